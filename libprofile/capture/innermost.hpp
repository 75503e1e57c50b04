// Which of a thread's intervals was open, innermost, at given moments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "libprofile/trace/columns.hpp"

namespace gprofml::profile {

/// A moment on a host thread.
struct ThreadMoment {
  RowIndex thread = kNoRow;
  Nanoseconds time_ns = 0;
};

/// For each moment the row of `table` (with start_ns, end_ns and thread) that was open then and
/// started last, among those that `accept(row)` takes; kNoRow: none. Where an interval outlives the
/// one around it, it stays innermost until its own end. `closed`: an interval is still open at its
/// end.
template <typename Table, typename Accept>
std::vector<RowIndex> innermost_at(const Table& table, const std::vector<ThreadMoment>& moments,
                                   bool closed, const Accept& accept) {
  std::map<RowIndex, std::vector<RowIndex>> asked;  // by thread: positions in `moments`
  for (RowIndex i = 0; i < moments.size(); ++i)
    if (moments[i].thread != kNoRow) asked[moments[i].thread].push_back(i);
  std::map<RowIndex, std::vector<RowIndex>> intervals;
  if (!asked.empty()) {
    for (RowIndex row = 0; row < table.size(); ++row)
      if (asked.count(table.thread[row]) != 0 && accept(row))
        intervals[table.thread[row]].push_back(row);
  }
  std::vector<RowIndex> found(moments.size(), kNoRow);
  for (auto& [thread, positions] : asked) {
    std::vector<RowIndex>& rows = intervals[thread];
    std::sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
      return std::tuple(table.start_ns[a], ~table.end_ns[a], a) <
             std::tuple(table.start_ns[b], ~table.end_ns[b], b);
    });
    std::sort(positions.begin(), positions.end(),
              [&](RowIndex a, RowIndex b) { return moments[a].time_ns < moments[b].time_ns; });
    std::vector<RowIndex> open;
    const auto close = [&](Nanoseconds t) {
      while (!open.empty() &&
             (closed ? table.end_ns[open.back()] < t : table.end_ns[open.back()] <= t))
        open.pop_back();
    };
    auto next = rows.begin();
    for (const RowIndex position : positions) {
      const Nanoseconds t = moments[position].time_ns;
      for (; next != rows.end() && table.start_ns[*next] <= t; ++next) {
        close(table.start_ns[*next]);
        open.push_back(*next);
      }
      close(t);
      if (!open.empty()) found[position] = open.back();
    }
  }
  return found;
}

}  // namespace gprofml::profile
