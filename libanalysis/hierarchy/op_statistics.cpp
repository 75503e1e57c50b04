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
  for (RowIndex r = 0; r < ranges.size(); ++r) {
    if (!tree.contains(r) || !inside(ranges.start_ns[r], window)) continue;
    OpStatistics& op = by_path[tree.path_id(r)];
    ++op.count;
    op.host_ns += ranges.end_ns[r] - ranges.start_ns[r];
  }
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!inside(graph.work.start_ns[i], window)) continue;
    const Nanoseconds duration = graph.work.end_ns[i] - graph.work.start_ns[i];
    for (RowIndex r = origin_of(graph, tree, i); r != kNoRow; r = tree.parent(r)) {
      OpStatistics& op = by_path[tree.path_id(r)];
      op.device_ns += duration;
      ++op.kernels;
    }
  }
  std::vector<OpStatistics> table;
  for (std::uint32_t id = 0; id < by_path.size(); ++id) {
    if (by_path[id].count == 0 && by_path[id].kernels == 0) continue;
    by_path[id].path = tree.path_text(id);
    table.push_back(std::move(by_path[id]));
  }
  std::sort(table.begin(), table.end(), [](const OpStatistics& a, const OpStatistics& b) {
    return std::tie(b.device_ns, a.path) < std::tie(a.device_ns, b.path);
  });
  return table;
}

}  // namespace gprofml::analysis
