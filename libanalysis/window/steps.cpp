#include "libanalysis/window/steps.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "libanalysis/window/quantiles.hpp"
#include "libanalysis/window/recorded.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RangeKind;
using profile::RowIndex;

namespace {

constexpr std::size_t kFewestRepeats = 5;

using Rows = std::vector<RowIndex>;
using Recorded = std::vector<RecordedWindow>;

// Of a range that reaches out of a window some work is missing.
bool is_whole(const profile::Trace& trace, const Recorded& recorded, RowIndex range) {
  return was_recorded(recorded, trace.ranges.start_ns[range], trace.ranges.end_ns[range]);
}

// Ranges of one thread in time order; false when two overlap.
bool sort_disjoint(const profile::RangeColumns& ranges, Rows& rows) {
  std::sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
    return std::tie(ranges.start_ns[a], ranges.end_ns[a], a) <
           std::tie(ranges.start_ns[b], ranges.end_ns[b], b);
  });
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (ranges.start_ns[rows[i]] < ranges.end_ns[rows[i - 1]]) return false;
  }
  return true;
}

// The chosen ranges of the thread that has most of them without overlap: with several ranks in one
// file each marks its own.
template <class Chosen>
Rows marks_of_one_thread(const profile::Trace& trace, const Recorded& recorded, Chosen chosen) {
  std::vector<Rows> by_thread(trace.threads.size());
  for (RowIndex r = 0; r < trace.ranges.size(); ++r) {
    if (!is_whole(trace, recorded, r)) continue;
    if (chosen(trace.text(trace.ranges.name[r]))) by_thread[trace.ranges.thread[r]].push_back(r);
  }
  Rows best;
  for (Rows& rows : by_thread) {
    if (rows.size() > best.size() && sort_disjoint(trace.ranges, rows)) best = std::move(rows);
  }
  return best;
}

bool is_host_action(const DependencyGraph& graph, RowIndex call) {
  if (graph.traits.of(call).blocking != Blocking::no) return true;
  for (const ActivityIndex i : graph.work.work_of_call(call)) {
    if (graph.work.kind[i] != WorkKind::copy) continue;
    const profile::CopyKind kind = graph.trace.copies.kind[graph.work.row[i]];
    if (kind == profile::CopyKind::host_to_device || kind == profile::CopyKind::device_to_host) {
      return true;
    }
  }
  return false;
}

// The starts of all host actions of each process, sorted.
std::vector<std::vector<Nanoseconds>> host_actions(const DependencyGraph& graph) {
  std::vector<std::vector<Nanoseconds>> actions(graph.trace.processes.size());
  for (RowIndex c = 0; c < graph.trace.api_calls.size(); ++c) {
    if (!is_host_action(graph, c)) continue;
    const RowIndex process = graph.trace.threads[graph.trace.api_calls.thread[c]].process;
    actions[process].push_back(graph.trace.api_calls.start_ns[c]);
  }
  for (std::vector<Nanoseconds>& of_process : actions) {
    std::sort(of_process.begin(), of_process.end());
  }
  return actions;
}

// Whether each period (start of one range to start of the next) holds one of the actions.
bool acts_every_period(const profile::RangeColumns& ranges, const Rows& rows,
                       const std::vector<Nanoseconds>& actions) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Nanoseconds from = ranges.start_ns[rows[i]];
    const Nanoseconds to =
        i + 1 < rows.size() ? ranges.start_ns[rows[i + 1]] : ranges.end_ns[rows[i]];
    const auto first = std::lower_bound(actions.begin(), actions.end(), from);
    if (first == actions.end() || *first >= to) return false;
  }
  return true;
}

std::pair<Nanoseconds, Nanoseconds> gpu_span(const Activities& work) {
  return {work.start_ns.front(), *std::max_element(work.end_ns.begin(), work.end_ns.end())};
}

Nanoseconds covered_of_span(const profile::RangeColumns& ranges, const Rows& rows,
                            std::pair<Nanoseconds, Nanoseconds> span) {
  Nanoseconds covered = 0;
  for (const RowIndex r : rows) {
    const Nanoseconds start = std::max(ranges.start_ns[r], span.first);
    const Nanoseconds end = std::min(ranges.end_ns[r], span.second);
    covered += std::max<Nanoseconds>(0, end - start);
  }
  return covered;
}

struct Repeating {
  Rows rows;              ///< of the range that qualifies; empty: none does
  std::string candidate;  ///< the one that covers most, qualified or not
};

// Of the repeating ranges that qualify, the one that covers most; of equals the name first in
// order.
Repeating repeating_range(const DependencyGraph& graph, const Recorded& recorded) {
  const profile::Trace& trace = graph.trace;
  if (graph.work.size() == 0) return {};
  std::map<std::pair<RowIndex, profile::StringId>, Rows> groups;
  for (RowIndex r = 0; r < trace.ranges.size(); ++r) {
    const RangeKind kind = trace.ranges.kind[r];
    if (kind == RangeKind::op || kind == RangeKind::python_function) continue;
    if (!is_whole(trace, recorded, r)) continue;
    groups[{trace.ranges.thread[r], trace.ranges.name[r]}].push_back(r);
  }
  const auto span = gpu_span(graph.work);
  const Nanoseconds recorded_ns = recorded_of(recorded, span.first, span.second);
  const std::vector<std::vector<Nanoseconds>> actions = host_actions(graph);
  Repeating best;
  Nanoseconds best_covered = 0;
  Nanoseconds candidate_covered = 0;
  std::string_view best_name;
  for (auto& [key, rows] : groups) {
    if (rows.size() < kFewestRepeats || !sort_disjoint(trace.ranges, rows)) continue;
    const Nanoseconds covered = covered_of_span(trace.ranges, rows, span);
    const std::string_view name = trace.text(key.second);
    if (covered > candidate_covered) {
      candidate_covered = covered;
      best.candidate = name;
    }
    if (covered < (recorded_ns + 1) / 2) continue;
    if (std::tuple(-covered, name) >= std::tuple(-best_covered, best_name) && !best.rows.empty())
      continue;
    const RowIndex process = trace.threads[key.first].process;
    if (!acts_every_period(trace.ranges, rows, actions[process])) continue;
    best.rows = rows;
    best_covered = covered;
    best_name = name;
  }
  return best;
}

Nanoseconds median(std::vector<Nanoseconds> values) {
  std::sort(values.begin(), values.end());
  return median_of_sorted(values);
}

struct Period {
  std::size_t step;
  Nanoseconds length_ns;
};

// Start to start, of the steps that are followed: marks of profilers end before the work of the
// step does, so the lengths of the others are not like these.
std::vector<Period> periods(const std::vector<Step>& steps) {
  std::vector<Period> all;
  const bool any =
      std::any_of(steps.begin(), steps.end(), [](const Step& s) { return s.is_followed; });
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].is_followed || !any) all.push_back({i, steps[i].period_ns});
  }
  return all;
}

std::vector<Nanoseconds> lengths(const std::vector<Period>& periods) {
  std::vector<Nanoseconds> all;
  for (const Period& period : periods) all.push_back(period.length_ns);
  return all;
}

// The first of n steps from which the rolling median of ten stays near that of the last half.
std::size_t first_steady(std::size_t n, const std::vector<Period>& periods) {
  const std::vector<Nanoseconds> all = lengths(periods);
  constexpr std::size_t kRoll = 10;
  if (n < 3) return 0;
  if (n < kRoll) return 1;
  const auto half = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  const Nanoseconds settled = median({half, all.end()});
  for (std::size_t k = 0; k < all.size() / 2; ++k) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(k);
    const auto to = from + static_cast<std::ptrdiff_t>(std::min(kRoll, all.size() - k));
    if (median({from, to}) <= settled + settled / 20) return periods[k].step;
  }
  return n / 2;
}

void find_outliers(Steps& steps) {
  const std::vector<Period> all = periods(steps.steps);
  std::vector<Nanoseconds> deviations;
  for (const Period& p : all) deviations.push_back(std::abs(p.length_ns - steps.median_ns));
  const Nanoseconds limit =
      steps.median_ns + std::max(5 * median(deviations), steps.median_ns / 10);
  for (const Period& p : all) {
    if (p.length_ns <= limit) continue;
    steps.outliers.push_back(
        {static_cast<std::int64_t>(p.step), p.length_ns, steps.steps[p.step].name});
  }
}

// What each step launched, in launch order, as names; and how many steps agree.
void compare_launches(const DependencyGraph& graph, Steps& steps) {
  struct Launch {
    Nanoseconds at_ns;
    ActivityIndex activity;
  };
  std::vector<Launch> launches;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (graph.work.linked(i)) launches.push_back({graph.launch_start_ns(i), i});
  }
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return std::tie(a.at_ns, a.activity) < std::tie(b.at_ns, b.activity);
  });
  std::map<std::vector<std::string_view>, std::int64_t> sequences;
  std::vector<std::int64_t> counts;
  for (Step& step : steps.steps) {
    auto it = std::lower_bound(launches.begin(), launches.end(), step.start_ns,
                               [](const Launch& l, Nanoseconds t) { return l.at_ns < t; });
    std::vector<std::string_view> names;
    for (; it != launches.end() && it->at_ns < step.end_ns; ++it) {
      names.push_back(graph.work.name(graph.trace, it->activity));
    }
    step.launches = static_cast<std::int64_t>(names.size());
    counts.push_back(step.launches);
    ++sequences[std::move(names)];
  }
  std::sort(counts.begin(), counts.end());
  steps.launches = counts[(counts.size() - 1) / 2];
  steps.signature.of = steps.count;
  for (const auto& [names, times] : sequences) {
    if (times <= steps.signature.identical) continue;
    steps.signature.identical = times;
    steps.signature.launches = static_cast<std::int64_t>(names.size());
  }
}

Steps describe(const DependencyGraph& graph, const Recorded& recorded, const Rows& rows,
               std::string source) {
  Steps steps;
  steps.count = static_cast<std::int64_t>(rows.size());
  steps.kind = "step";
  steps.source = std::move(source);
  steps.confidence = 1.0;
  const profile::RangeColumns& ranges = graph.trace.ranges;
  for (const RowIndex r : rows) {
    Step step;
    step.start_ns = ranges.start_ns[r];
    step.end_ns = ranges.end_ns[r];
    step.name = graph.trace.text(ranges.name[r]);
    steps.steps.push_back(std::move(step));
  }
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    Step& step = steps.steps[i];
    const Step* const next = i + 1 == steps.steps.size() ? nullptr : &steps.steps[i + 1];
    step.is_followed = next != nullptr && was_recorded(recorded, step.start_ns, next->start_ns);
    step.period_ns = (step.is_followed ? next->start_ns : step.end_ns) - step.start_ns;
  }
  const std::vector<Period> all = periods(steps.steps);
  const std::size_t steady = first_steady(steps.steps.size(), all);
  std::vector<Nanoseconds> sorted = lengths(all);
  for (std::size_t i = 0; i < steady; ++i) steps.steps[i].steady = false;
  std::sort(sorted.begin(), sorted.end());
  steps.median_ns = median(sorted);
  steps.p95_ns = percentile_of_sorted(sorted, 95);
  steps.p99_ns = percentile_of_sorted(sorted, 99);
  find_outliers(steps);
  compare_launches(graph, steps);
  return steps;
}

}  // namespace

Steps find_steps(const DependencyGraph& graph, const std::string& range) {
  const Recorded recorded = recorded_windows(graph.trace);
  if (!range.empty()) {
    const Rows named = marks_of_one_thread(graph.trace, recorded,
                                           [&](std::string_view name) { return name == range; });
    return named.empty() ? Steps{} : describe(graph, recorded, named, "ranges:" + range);
  }
  if (const Rows marks = marks_of_one_thread(graph.trace, recorded, is_step_mark); !marks.empty()) {
    return describe(graph, recorded, marks, "ranges:ProfilerStep");
  }
  const Repeating repeating = repeating_range(graph, recorded);
  if (!repeating.rows.empty()) {
    const auto name = graph.trace.text(graph.trace.ranges.name[repeating.rows.front()]);
    return describe(graph, recorded, repeating.rows, "ranges:" + std::string(name));
  }
  Steps none;
  none.candidate = repeating.candidate;
  return none;
}

}  // namespace gprofml::analysis
