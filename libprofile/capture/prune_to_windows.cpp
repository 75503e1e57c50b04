#include "libprofile/capture/prune_to_windows.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>

#include "libprofile/trace/column_roles.hpp"

namespace gprofml::profile {
namespace {

using Kept = std::vector<bool>;

class Intervals {
 public:
  explicit Intervals(const std::vector<WindowInterval>& windows) : windows_(windows) {}

  bool meets(Nanoseconds start_ns, Nanoseconds end_ns) const {
    // The last one that begins before the end reaches farthest of those that do. What ends as a
    // window begins is not in it, but what takes no time at that moment is.
    const Nanoseconds before_ns = end_ns > start_ns ? end_ns - 1 : end_ns;
    const auto after = std::upper_bound(
        windows_.begin(), windows_.end(), before_ns,
        [](Nanoseconds time, const WindowInterval& window) { return time < window.start_ns; });
    return after != windows_.begin() && start_ns < (after - 1)->end_ns;
  }
  /// Whether it ends in one, its last moment too: a call that is still under way when a window ends
  /// is not, whoever takes the time of the end itself.
  bool ends_in_one(Nanoseconds end_ns) const {
    const auto after = std::lower_bound(
        windows_.begin(), windows_.end(), end_ns,
        [](const WindowInterval& window, Nanoseconds time) { return window.start_ns < time; });
    return after != windows_.begin() && end_ns <= (after - 1)->end_ns;
  }

 private:
  const std::vector<WindowInterval>& windows_;
};

template <typename Visit>
void visit_work(Trace& trace, Visit&& visit) {
  visit(static_cast<ActivityColumns&>(trace.kernels));
  visit(static_cast<ActivityColumns&>(trace.copies));
  visit(static_cast<ActivityColumns&>(trace.fills));
  visit(static_cast<ActivityColumns&>(trace.graph_launches));
}

Kept kept_calls(Trace& trace, const Intervals& windows) {
  const ApiCallColumns& calls = trace.api_calls;
  Kept launches(calls.size(), false);
  visit_work(trace, [&](const ActivityColumns& work) {
    for (const RowIndex call : work.launch) {
      if (call != kNoRow) launches[call] = true;
    }
  });
  Kept kept(calls.size(), false);
  for (RowIndex row = 0; row < calls.size(); ++row) {
    kept[row] = windows.meets(calls.start_ns[row], calls.end_ns[row]) &&
                (!launches[row] || windows.ends_in_one(calls.end_ns[row]));
  }
  return kept;
}

/// What lost its time is kept where its call is, or none is known.
Kept kept_work(const ActivityColumns& work, const Kept& calls, const Intervals& windows) {
  Kept kept(work.size(), false);
  for (std::size_t row = 0; row < work.size(); ++row) {
    kept[row] = work.launch[row] != kNoRow
                    ? calls[work.launch[row]]
                    : !has_timestamp(work.start_ns[row], work.end_ns[row]) ||
                          windows.meets(work.start_ns[row], work.end_ns[row]);
  }
  return kept;
}

/// The op of a captured node is known by the range that it was captured in and all that encloses
/// that. A range encloses one of them when, of those on its thread that begin no earlier, the first
/// to end ends within it.
void keep_around_captured(const Trace& trace, Kept& kept) {
  const RangeColumns& ranges = trace.ranges;
  struct Inner {
    RowIndex thread;
    Nanoseconds start_ns;
    Nanoseconds first_end_ns;  ///< of this and those behind it on the thread
  };
  std::vector<Inner> captured;
  for (const GraphNode& node : trace.graph_nodes) {
    if (node.op == kNoRow) continue;
    captured.push_back({ranges.thread[node.op], ranges.start_ns[node.op], ranges.end_ns[node.op]});
  }
  const auto before = [](const Inner& a, const Inner& b) {
    return std::tie(a.thread, a.start_ns) < std::tie(b.thread, b.start_ns);
  };
  std::sort(captured.begin(), captured.end(), before);
  for (std::size_t i = captured.size(); i-- > 1;) {
    if (captured[i - 1].thread != captured[i].thread) continue;
    captured[i - 1].first_end_ns = std::min(captured[i - 1].first_end_ns, captured[i].first_end_ns);
  }
  for (RowIndex row = 0; row < ranges.size(); ++row) {
    const Inner outer{ranges.thread[row], ranges.start_ns[row], 0};
    const auto inner = std::lower_bound(captured.begin(), captured.end(), outer, before);
    if (inner != captured.end() && inner->thread == outer.thread &&
        inner->first_end_ns <= ranges.end_ns[row]) {
      kept[row] = true;
    }
  }
}

Kept kept_ranges(const Trace& trace, const Intervals& windows) {
  const RangeColumns& ranges = trace.ranges;
  Kept kept(ranges.size(), false);
  for (RowIndex row = 0; row < ranges.size(); ++row) {
    kept[row] = windows.meets(ranges.start_ns[row], ranges.end_ns[row]);
  }
  keep_around_captured(trace, kept);
  return kept;
}

template <typename Table>
Kept kept_by_time(const Table& table, const Intervals& windows) {
  Kept kept(table.size(), true);
  for (std::size_t row = 0; row < table.size(); ++row) {
    if constexpr (requires { table.start_ns; }) {
      kept[row] = windows.meets(table.start_ns[row], table.end_ns[row]);
    } else {
      kept[row] = windows.meets(table.time_ns[row], table.time_ns[row]);
    }
  }
  return kept;
}

/// Those that refer to rows that stay.
Kept kept_with(const std::vector<RowIndex>& references, const Kept& referred) {
  Kept kept(references.size(), true);
  for (std::size_t row = 0; row < references.size(); ++row) {
    kept[row] = references[row] == kNoRow || referred[references[row]];
  }
  return kept;
}

Kept both(Kept a, const Kept& b) {
  for (std::size_t row = 0; row < a.size(); ++row) a[row] = a[row] && b[row];
  return a;
}

/// Takes rows out of a table; how many.
template <typename Table>
std::int64_t keep(Table& table, const Kept& kept) {
  const std::size_t before = table.size();
  visit_columns(table, [&](const char*, auto& column, ColumnRole) {
    std::size_t to = 0;
    for (std::size_t from = 0; from < before; ++from) {
      if (kept[from]) column[to++] = column[from];
    }
    column.resize(to);
  });
  return static_cast<std::int64_t>(before - table.size());
}

/// New row numbers of a table of which rows have gone: kNoRow for those.
std::vector<RowIndex> numbers_of(const Kept& kept) {
  std::vector<RowIndex> numbers(kept.size(), kNoRow);
  RowIndex next = 0;
  for (std::size_t row = 0; row < kept.size(); ++row) {
    if (kept[row]) numbers[row] = next++;
  }
  return numbers;
}

void renumber(Trace& trace, ColumnRole role, const Kept& kept) {
  const std::vector<RowIndex> numbers = numbers_of(kept);
  const auto change = [&](RowIndex& row) {
    if (row != kNoRow) row = numbers[row];
  };
  visit_event_tables(trace, [&](const char*, auto& table) {
    visit_columns(table, [&](const char*, auto& column, ColumnRole column_role) {
      if constexpr (std::is_same_v<std::decay_t<decltype(column)>, std::vector<RowIndex>>) {
        if (column_role != role) return;
        for (RowIndex& row : column) change(row);
      }
    });
  });
  for (GraphNode& node : trace.graph_nodes) {
    if (role == ColumnRole::range) change(node.op);
    if (role == ColumnRole::api_call) change(node.call);
  }
}

}  // namespace

Pruned prune_to_windows(Trace& trace, const std::vector<WindowInterval>& all) {
  const Intervals windows(all);
  const Kept calls = kept_calls(trace, windows);
  const Kept ranges = kept_ranges(trace, windows);
  const Kept kernels = kept_work(trace.kernels, calls, windows);
  Pruned pruned;
  pruned.work += keep(trace.copies, kept_work(trace.copies, calls, windows));
  pruned.work += keep(trace.fills, kept_work(trace.fills, calls, windows));
  pruned.work += keep(trace.graph_launches, kept_work(trace.graph_launches, calls, windows));
  pruned.work += keep(trace.kernels, kernels);

  CudaEventColumns& events = trace.cuda_events;
  pruned.other += keep(events, kept_with(events.call, calls));
  CollectiveColumns& collectives = trace.collectives;
  pruned.other += keep(collectives, both(kept_with(collectives.kernel, kernels),
                                         kept_with(collectives.range, ranges)));
  pruned.other += keep(trace.range_payloads, kept_with(trace.range_payloads.range, ranges));
  pruned.other += keep(trace.call_stacks, kept_with(trace.call_stacks.call, calls));
  pruned.other += keep(trace.syncs, kept_by_time(trace.syncs, windows));
  pruned.other += keep(trace.overheads, kept_by_time(trace.overheads, windows));
  pruned.other += keep(trace.memory_events, kept_by_time(trace.memory_events, windows));
  pruned.other += keep(trace.memory_pool_events, kept_by_time(trace.memory_pool_events, windows));
  pruned.other += keep(trace.migrations, kept_by_time(trace.migrations, windows));
  pruned.other += keep(trace.counter_samples, kept_by_time(trace.counter_samples, windows));
  pruned.other += keep(trace.api_calls, calls);
  pruned.other += keep(trace.ranges, ranges);
  renumber(trace, ColumnRole::kernel, kernels);
  renumber(trace, ColumnRole::api_call, calls);
  renumber(trace, ColumnRole::range, ranges);
  return pruned;
}

}  // namespace gprofml::profile
