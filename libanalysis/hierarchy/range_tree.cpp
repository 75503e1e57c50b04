#include "libanalysis/hierarchy/range_tree.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "libanalysis/graph/host_threads.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RangeKind;
using profile::RowIndex;

namespace {

bool takes_part(const profile::RangeColumns& ranges, RowIndex range) {
  switch (ranges.kind[range]) {
    case RangeKind::op:
    case RangeKind::annotation:
    case RangeKind::push_pop:
      return true;
    case RangeKind::start_end:
      return ranges.end_ns[range] > ranges.start_ns[range];
    case RangeKind::python_function:
      break;
  }
  return false;
}

}  // namespace

RangeTree::RangeTree(const profile::Trace& trace)
    : trace_(trace),
      included_(trace.ranges.size(), false),
      parent_(trace.ranges.size(), kNoRow),
      path_id_(trace.ranges.size(), kNoPath),
      changes_(trace.threads.size()) {
  std::vector<std::vector<RowIndex>> by_thread(trace.threads.size());
  for (RowIndex i = 0; i < trace.ranges.size(); ++i) {
    included_[i] = takes_part(trace.ranges, i) && !is_step_mark(trace.text(trace.ranges.name[i]));
    if (included_[i]) by_thread[trace.ranges.thread[i]].push_back(i);
  }
  const profile::RangeColumns& r = trace.ranges;
  std::vector<RowIndex> all;
  for (RowIndex thread = 0; thread < by_thread.size(); ++thread) {
    std::vector<RowIndex>& rows = by_thread[thread];
    std::sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
      return std::tuple(r.start_ns[a], -r.end_ns[a], a) <
             std::tuple(r.start_ns[b], -r.end_ns[b], b);
    });
    leave_out_crossing(rows);
    nest(rows, changes_[thread]);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  number_paths(all);
}

// A start/end range crosses an earlier one that is open at its start and ends before it does, or a
// later one that starts before its end and outlives it. One sweep each way, with what is open then.
void RangeTree::leave_out_crossing(const std::vector<RowIndex>& ranges) {
  const profile::RangeColumns& r = trace_.ranges;
  const auto may_cross = [&](RowIndex range) { return r.kind[range] == RangeKind::start_end; };
  if (std::none_of(ranges.begin(), ranges.end(), may_cross)) return;
  std::vector<RowIndex> crossing;
  std::multiset<Nanoseconds> ends;  // of the ranges that started before
  for (auto group = ranges.begin(); group != ranges.end();) {
    const Nanoseconds start = r.start_ns[*group];
    ends.erase(ends.begin(), ends.upper_bound(start));
    const auto next = std::find_if(group, ranges.end(),
                                   [&](RowIndex range) { return r.start_ns[range] > start; });
    for (auto range = group; range != next; ++range) {
      if (may_cross(*range) && !ends.empty() && *ends.begin() < r.end_ns[*range]) {
        crossing.push_back(*range);
      }
    }
    for (; group != next; ++group) ends.insert(r.end_ns[*group]);
  }
  std::vector<RowIndex> by_end = ranges;
  std::sort(by_end.begin(), by_end.end(),
            [&](RowIndex a, RowIndex b) { return r.end_ns[a] > r.end_ns[b]; });
  std::multiset<Nanoseconds> starts;  // of the ranges that end later
  for (auto group = by_end.begin(); group != by_end.end();) {
    const Nanoseconds end = r.end_ns[*group];
    starts.erase(starts.lower_bound(end), starts.end());
    const auto next =
        std::find_if(group, by_end.end(), [&](RowIndex range) { return r.end_ns[range] < end; });
    for (auto range = group; range != next; ++range) {
      if (may_cross(*range) && !starts.empty() && *starts.rbegin() > r.start_ns[*range]) {
        crossing.push_back(*range);
      }
    }
    for (; group != next; ++group) starts.insert(r.start_ns[*group]);
  }
  for (const RowIndex range : crossing) included_[range] = false;
}

// A sweep over ranges in order of their starts with the stack of open ones. Where a child outlives
// its parent the child stays innermost until its own end.
void RangeTree::nest(const std::vector<RowIndex>& ranges, std::vector<Change>& changes) {
  const profile::RangeColumns& r = trace_.ranges;
  std::vector<RowIndex> open;
  const auto close_until = [&](Nanoseconds t) {
    while (!open.empty() && r.end_ns[open.back()] <= t) {
      const Nanoseconds end = r.end_ns[open.back()];
      open.pop_back();
      while (!open.empty() && r.end_ns[open.back()] <= end) open.pop_back();
      changes.push_back({end, open.empty() ? kNoRow : open.back()});
    }
  };
  for (const RowIndex range : ranges) {
    if (!included_[range]) continue;
    close_until(r.start_ns[range]);
    if (open.size() == kDeepest) {
      included_[range] = false;
      continue;
    }
    parent_[range] = open.empty() ? kNoRow : open.back();
    if (r.end_ns[range] == r.start_ns[range]) continue;  // of no length: innermost at no instant
    open.push_back(range);
    changes.push_back({r.start_ns[range], range});
  }
  close_until(std::numeric_limits<Nanoseconds>::max());
}

void RangeTree::number_paths(const std::vector<RowIndex>& ranges) {
  std::map<std::pair<std::uint32_t, profile::StringId>, std::uint32_t> ids;
  for (const RowIndex range : ranges) {  // parents come before their children
    if (!included_[range]) continue;
    const std::uint32_t above = parent_[range] == kNoRow ? kNoPath : path_id_[parent_[range]];
    const auto [it, added] = ids.try_emplace({above, trace_.ranges.name[range]}, path_count());
    if (added) path_names_.push_back({above, trace_.ranges.name[range]});
    path_id_[range] = it->second;
  }
}

RowIndex RangeTree::innermost(RowIndex thread, Nanoseconds t_ns) const {
  const std::vector<Change>& changes = changes_[thread];
  const auto after = std::upper_bound(changes.begin(), changes.end(), t_ns,
                                      [](Nanoseconds t, const Change& c) { return t < c.at_ns; });
  return after == changes.begin() ? kNoRow : (after - 1)->innermost;
}

Nanoseconds RangeTree::last_change_before(RowIndex thread, Nanoseconds t_ns) const {
  const std::vector<Change>& changes = changes_[thread];
  const auto after = std::lower_bound(changes.begin(), changes.end(), t_ns,
                                      [](const Change& c, Nanoseconds t) { return c.at_ns < t; });
  return after == changes.begin() ? std::numeric_limits<Nanoseconds>::min() : (after - 1)->at_ns;
}

std::string RangeTree::path(RowIndex range) const {
  return path_text(path_id_[range]);
}

std::string RangeTree::path_text(std::uint32_t id) const {
  std::vector<profile::StringId> names;
  for (; id != kNoPath; id = path_names_[id].parent) names.push_back(path_names_[id].name);
  std::string text;
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    if (name != names.rbegin()) text += '/';
    text += path_part(trace_.text(*name));
  }
  return text;
}

std::string RangeTree::path_part(std::string_view name) {
  std::string part;
  for (const char c : name) {
    if (c == '/') {
      part += "\u2215";
    } else {
      part += c;
    }
  }
  return part;
}

}  // namespace gprofml::analysis
