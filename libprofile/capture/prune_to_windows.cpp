#include "libprofile/capture/prune_to_windows.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>

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

/// Something on a thread that ranges may enclose.
struct Inner {
  RowIndex thread;
  Nanoseconds start_ns;
  Nanoseconds first_end_ns;  ///< of this and, once sorted, those behind it on the thread
};

/// Keeps all ranges that enclose one of these. A range does when, of those on its thread that begin
/// no earlier, the first to end ends within it.
void keep_around(std::vector<Inner> inner, const RangeColumns& ranges, Kept& kept) {
  const auto before = [](const Inner& a, const Inner& b) {
    return std::tie(a.thread, a.start_ns) < std::tie(b.thread, b.start_ns);
  };
  std::sort(inner.begin(), inner.end(), before);
  for (std::size_t i = inner.size(); i-- > 1;) {
    if (inner[i - 1].thread != inner[i].thread) continue;
    inner[i - 1].first_end_ns = std::min(inner[i - 1].first_end_ns, inner[i].first_end_ns);
  }
  for (RowIndex row = 0; row < ranges.size(); ++row) {
    const Inner outer{ranges.thread[row], ranges.start_ns[row], 0};
    const auto first = std::lower_bound(inner.begin(), inner.end(), outer, before);
    if (first != inner.end() && first->thread == outer.thread &&
        first->first_end_ns <= ranges.end_ns[row]) {
      kept[row] = true;
    }
  }
}

/// The op of a captured node is known by the range that it was captured in and all that encloses
/// that.
void keep_around_captured(const Trace& trace, Kept& kept) {
  const RangeColumns& ranges = trace.ranges;
  std::vector<Inner> captured;
  for (const GraphNode& node : trace.graph_nodes) {
    if (node.op == kNoRow) continue;
    captured.push_back({ranges.thread[node.op], ranges.start_ns[node.op], ranges.end_ns[node.op]});
  }
  keep_around(std::move(captured), ranges, kept);
}

/// So is that of work by what encloses the call that launched it.
void keep_around_calls(const Trace& trace, const Kept& calls, Kept& kept) {
  const ApiCallColumns& all = trace.api_calls;
  std::vector<Inner> inner;
  for (RowIndex row = 0; row < all.size(); ++row) {
    if (calls[row]) inner.push_back({all.thread[row], all.start_ns[row], all.end_ns[row]});
  }
  keep_around(std::move(inner), trace.ranges, kept);
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

namespace {

/// Of each table of GPU work, in the order of visit_work().
using KeptWork = std::vector<Kept>;

Pruned prune(Trace& trace, const Intervals& windows, const Kept& calls, const Kept& ranges,
             const KeptWork& work) {
  const Kept& kernels = work.front();
  Pruned pruned;
  pruned.work += keep(trace.kernels, kernels);
  pruned.work += keep(trace.copies, work[1]);
  pruned.work += keep(trace.fills, work[2]);
  pruned.work += keep(trace.graph_launches, work[3]);

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

}  // namespace

Pruned prune_to_windows(Trace& trace, const std::vector<WindowInterval>& all) {
  const Intervals windows(all);
  const Kept calls = kept_calls(trace, windows);
  const Kept ranges = kept_ranges(trace, windows);
  KeptWork work;
  visit_work(trace, [&](const ActivityColumns& table) {
    work.push_back(kept_work(table, calls, windows));
  });
  return prune(trace, windows, calls, ranges, work);
}

Pruned prune_to_last(Trace& trace, const WindowInterval& last) {
  // Its last moment is in it: nothing comes after.
  const std::vector<WindowInterval> only{{last.start_ns, last.end_ns + 1}};
  const Intervals windows(only);
  Kept calls = kept_by_time(trace.api_calls, windows);
  Kept launching(calls.size(), false);
  KeptWork work;
  visit_work(trace, [&](const ActivityColumns& table) {
    Kept& kept = work.emplace_back(table.size(), true);
    for (std::size_t row = 0; row < table.size(); ++row) {
      const RowIndex call = table.launch[row];
      kept[row] = has_timestamp(table.start_ns[row], table.end_ns[row])
                      ? windows.meets(table.start_ns[row], table.end_ns[row])
                      : call == kNoRow || calls[call];
      if (kept[row] && call != kNoRow) launching[call] = true;
    }
  });
  for (RowIndex row = 0; row < calls.size(); ++row) calls[row] = calls[row] || launching[row];
  Kept ranges = kept_ranges(trace, windows);
  keep_around_calls(trace, calls, ranges);
  return prune(trace, windows, calls, ranges, work);
}

}  // namespace gprofml::profile
