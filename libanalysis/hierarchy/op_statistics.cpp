#include "libanalysis/hierarchy/op_statistics.hpp"

#include <algorithm>
#include <tuple>

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

RowIndex op_named_by_source(const profile::Trace& trace, const Activities& work, ActivityIndex i) {
  switch (work.kind[i]) {
    case WorkKind::copy:
      return trace.copies.op[work.row[i]];
    case WorkKind::fill:
      return trace.fills.op[work.row[i]];
    case WorkKind::kernel:
    case WorkKind::communication:
      break;
  }
  return trace.kernels.op[work.row[i]];
}

bool inside(Nanoseconds t, const Window& window) {
  return window.kind == WindowKind::all || (window.from_ns <= t && t < window.to_ns);
}

std::vector<OpStatistics> named_table(const RangeTree& tree, std::vector<OpStatistics>& by_path) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t id = 0; id < by_path.size(); ++id) {
    if (by_path[id].count > 0) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(-by_path[a].device_ns, a) < std::tuple(-by_path[b].device_ns, b);
  });
  std::vector<OpStatistics> table;
  std::size_t bytes = 0;
  for (const std::uint32_t id : order) {
    OpStatistics& op = by_path[id];
    op.path = tree.path_text(id);
    bytes += op.path.size();
    if (bytes > kMostPathBytes) break;
    table.push_back(std::move(op));
  }
  return table;
}

}  // namespace

RowIndex origin_of(const DependencyGraph& graph, const RangeTree& tree, ActivityIndex i) {
  if (graph.work.linked(i)) {
    const RowIndex thread = graph.trace.api_calls.thread[graph.work.call[i]];
    const RowIndex range = tree.innermost(thread, graph.launch_start_ns(i));
    if (range != kNoRow) return range;
  }
  const RowIndex named = op_named_by_source(graph.trace, graph.work, i);
  return named != kNoRow && tree.contains(named) ? named : kNoRow;
}

std::vector<OpStatistics> op_statistics(const DependencyGraph& graph, const RangeTree& tree,
                                        const Window& window) {
  std::vector<OpStatistics> by_path(tree.path_count());
  const profile::RangeColumns& ranges = graph.trace.ranges;
  std::vector<bool> counted(ranges.size(), false);
  const auto count = [&](RowIndex r) {
    if (counted[r]) return;
    counted[r] = true;
    OpStatistics& op = by_path[tree.path_id(r)];
    ++op.count;
    op.host_ns += ranges.end_ns[r] - ranges.start_ns[r];
  };
  for (RowIndex r = 0; r < ranges.size(); ++r) {
    if (tree.contains(r) && inside(ranges.start_ns[r], window)) count(r);
  }
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!inside(graph.work.start_ns[i], window)) continue;
    const Nanoseconds duration = graph.work.end_ns[i] - graph.work.start_ns[i];
    for (RowIndex r = origin_of(graph, tree, i); r != kNoRow; r = tree.parent(r)) {
      count(r);
      OpStatistics& op = by_path[tree.path_id(r)];
      op.device_ns += duration;
      ++op.kernels;
    }
  }
  return named_table(tree, by_path);
}

}  // namespace gprofml::analysis
