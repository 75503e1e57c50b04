#include "libprofile/trace/clock_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "libprofile/trace/column_roles.hpp"

namespace gprofml::profile {
namespace {

constexpr Nanoseconds kLargestDrift = 1'000'000;
/// Times of the trace are on CUPTI's clock where that follows the system's. (A simulated one does
/// not, and nobody sets it.)
constexpr Nanoseconds kSameClock = 3'600'000'000'000;
/// Looks that are further apart than this, or from each other on other clocks, are no pair.
constexpr Nanoseconds kLongest = Nanoseconds{1} << 60;

bool is_sane(Nanoseconds time) {
  return time > 0 && time < 4 * kLongest;
}

/// What the clock of the trace showed at a pair; kUnknown: its clock is another one.
Nanoseconds trace_time(const ClockPairColumns& pairs, RowIndex row) {
  const Nanoseconds realtime = pairs.realtime_ns[row];
  const Nanoseconds cupti = pairs.cupti_ns[row];
  if (!is_sane(realtime) || !is_sane(pairs.monotonic_ns[row])) return kUnknown;
  if (cupti == kUnknown) return realtime;
  if (!is_sane(cupti)) return kUnknown;
  return std::abs(cupti - realtime) < kSameClock ? cupti : kUnknown;
}

std::vector<ClockStep> steps_between(const ClockPairColumns& pairs,
                                     const std::vector<RowIndex>& rows) {
  std::vector<ClockStep> steps;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    // The first pairs may be from before CUPTI was loaded.
    if ((pairs.cupti_ns[rows[i]] == kUnknown) != (pairs.cupti_ns[rows[i - 1]] == kUnknown))
      continue;
    const Nanoseconds before = trace_time(pairs, rows[i - 1]);
    const Nanoseconds after = trace_time(pairs, rows[i]);
    if (before == kUnknown || after == kUnknown) continue;
    const Nanoseconds elapsed = pairs.monotonic_ns[rows[i]] - pairs.monotonic_ns[rows[i - 1]];
    const Nanoseconds step = after - before - elapsed;
    if (elapsed < 0 || std::abs(step) <= kLargestDrift) continue;
    steps.push_back({before + elapsed, after - elapsed, step, elapsed});
  }
  return steps;
}

bool has_one_host(const Trace& trace) {
  std::set<StringId> hosts;
  for (const Process& process : trace.processes) hosts.insert(process.host);
  return hosts.size() == 1;
}

/// All columns of times and none of durations or of other clocks.
bool holds_times(std::string_view table, std::string_view column) {
  if (table == "clock_pairs") return false;
  return column == "start_ns" || column == "end_ns" || column == "time_ns";
}

void note(Trace& trace, const ClockStep& step) {
  QualityNote note;
  note.code = trace.intern("clock_corrected");
  note.count = 1;
  note.detail = trace.intern(
      fmt::format("the system's clock was set forward by {} us while the program ran; the times "
                  "behind that are analysed as if it had not been",
                  step.step_ns / 1000));
  trace.quality.push_back(note);
}

}  // namespace

std::vector<ClockStep> clock_steps(const Trace& trace) {
  const ClockPairColumns& pairs = trace.clock_pairs;
  std::map<RowIndex, std::vector<RowIndex>> rows_of;
  for (RowIndex row = 0; row < pairs.size(); ++row) rows_of[pairs.process[row]].push_back(row);
  std::vector<ClockStep> most;
  for (auto& [process, rows] : rows_of) {
    std::stable_sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
      return pairs.monotonic_ns[a] < pairs.monotonic_ns[b];
    });
    std::vector<ClockStep> steps = steps_between(pairs, rows);
    if (steps.size() > most.size()) most = std::move(steps);
  }
  return most;
}

std::size_t correct_clock_steps(Trace& trace) {
  if (!has_one_host(trace)) return 0;
  std::vector<ClockStep> steps = clock_steps(trace);
  steps.erase(std::remove_if(steps.begin(), steps.end(),
                             [](const ClockStep& step) { return !step.is_clear(); }),
              steps.end());
  if (steps.empty()) return 0;
  // From the last to the first: what lies behind a step then still has the times it was found at.
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    visit_event_tables(trace, [&](std::string_view table, auto& columns) {
      visit_columns(columns, [&](std::string_view name, auto& column, ColumnRole) {
        using Value = typename std::decay_t<decltype(column)>::value_type;
        if constexpr (std::is_same_v<Value, Nanoseconds>) {
          if (!holds_times(table, name)) return;
          for (Nanoseconds& time : column) {
            if (time != kUnknown && time > step->before_ns) time -= step->step_ns;
          }
        }
      });
    });
  }
  for (const ClockStep& step : steps) note(trace, step);
  canonicalise(trace);
  return steps.size();
}

}  // namespace gprofml::profile
