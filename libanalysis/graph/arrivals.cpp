#include "libanalysis/graph/arrivals.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "libanalysis/graph/graph_edges.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

/// One launch of a graph: which of its work stands for which node, and what that waits for.
class Arrivals::Replay {
 public:
  Replay(const DependencyGraph& graph, const GraphEdges& edges)
      : graph_(graph), edges_(edges), work_of_node_(graph.trace.graph_nodes.size(), kNoActivity) {}

  RowIndex node_of(ActivityIndex i) const {
    return graph_.work.columns(graph_.trace, i).graph_node[graph_.work.row[i]];
  }

  /// Whether the edges of this work's graph were recorded.
  bool knows(ActivityIndex i) const {
    const RowIndex node = node_of(i);
    return node != kNoRow && edges_.recorded_for(node);
  }

  /// Goes through the work of a launch in order. Calls `found(before)` for what `i` waits for, then
  /// takes `i` up. A node may run more than once in one launch (the body of a loop): its last run.
  template <class Found>
  void next(ActivityIndex i, const Found& found) {
    const RowIndex node = node_of(i);
    if (node == kNoRow) return;
    look_behind(node, found);
    work_of_node_[node] = i;
    touched_.push_back(node);
  }

  void finish() {
    for (const RowIndex node : touched_) work_of_node_[node] = kNoActivity;
    touched_.clear();
  }

 private:
  /// Nodes that put no work on the GPU (empty, host and event nodes) pass on what they wait for.
  template <class Found>
  void look_behind(RowIndex node, const Found& found) {
    open_.assign(1, node);
    seen_.clear();
    while (!open_.empty()) {
      const RowIndex at = open_.back();
      open_.pop_back();
      for (const RowIndex source : edges_.sources(at)) {
        if (work_of_node_[source] != kNoActivity) {
          found(work_of_node_[source]);
        } else if (seen_.insert(source).second) {
          open_.push_back(source);
        }
      }
    }
  }

  const DependencyGraph& graph_;
  const GraphEdges& edges_;
  std::vector<ActivityIndex> work_of_node_;
  std::vector<RowIndex> touched_, open_;
  std::set<RowIndex> seen_;
};

Arrivals::Arrivals(const DependencyGraph& graph)
    : graph_(graph), barriers_(graph.trace, graph.work) {
  const GraphEdges edges(graph.trace);
  Replay replay(graph, edges);
  std::vector<ActivityIndex> last_ended;
  for (RowIndex call = 0; call < graph.trace.api_calls.size(); ++call) {
    const auto nodes = graph.work.work_of_call(call);
    if (nodes.size() < 2) continue;
    find_last_ended(call, last_ended);
    std::size_t position = 0;
    for (const ActivityIndex node : nodes) {
      const ActivityIndex last = last_ended[position++];
      if (edges.empty() || !replay.knows(node)) {
        if (last != kNoActivity) node_edges_.push_back({node, last});
      } else {
        replay.next(node, [&](ActivityIndex before) { node_edges_.push_back({node, before}); });
      }
    }
    replay.finish();
  }
  std::stable_sort(node_edges_.begin(), node_edges_.end(),
                   [](const NodeEdge& a, const NodeEdge& b) { return a.work < b.work; });
}

// One sweep over a launch: its nodes by start, and beside them the same nodes by end.
void Arrivals::find_last_ended(RowIndex call, std::vector<ActivityIndex>& last_ended) const {
  const Activities& work = graph_.work;
  const auto nodes = work.work_of_call(call);
  last_ended.assign(nodes.size(), kNoActivity);
  std::vector<ActivityIndex> by_end(nodes.begin(), nodes.end());
  std::sort(by_end.begin(), by_end.end(), [&](ActivityIndex a, ActivityIndex b) {
    return std::tie(work.corrected_end_ns[a], a) < std::tie(work.corrected_end_ns[b], b);
  });
  std::size_t ended = 0;
  for (std::size_t position = 0; position < nodes.size(); ++position) {
    const ActivityIndex node = nodes[position];
    while (ended < by_end.size() && work.corrected_end_ns[by_end[ended]] <= work.start_ns[node]) {
      ++ended;
    }
    // nodes of no length may have ended by now and still come later in order
    std::size_t last = ended;
    while (last > 0 && by_end[last - 1] >= node) --last;
    if (last > 0) last_ended[position] = by_end[last - 1];
  }
}

void Arrivals::of(ActivityIndex i, std::vector<WorkArrival>& arrivals) const {
  const Activities& work = graph_.work;
  const Nanoseconds start = work.start_ns[i];
  arrivals.clear();
  const auto device = [&](ActivityIndex from) {
    if (from == kNoActivity || from >= i) return;
    const bool known = std::any_of(arrivals.begin(), arrivals.end(),
                                   [&](const WorkArrival& a) { return a.activity == from; });
    if (!known) arrivals.push_back({from, kNoRow, std::min(work.corrected_end_ns[from], start)});
  };
  device(work.stream_predecessor[i]);
  for (const ActivityIndex producer : graph_.waits.producers(i)) device(producer);
  for (const ActivityIndex before : barriers_.before(i)) device(before);
  auto edge = std::partition_point(node_edges_.begin(), node_edges_.end(),
                                   [i](const NodeEdge& e) { return e.work < i; });
  for (; edge != node_edges_.end() && edge->work == i; ++edge) device(edge->before);
  if (work.linked(i)) {
    const Nanoseconds ready = graph_.launch_start_ns(i) + graph_.latency.lambda_ns;
    arrivals.push_back({kNoActivity, work.call[i], std::min(ready, start)});
  }
}

}  // namespace gprofml::analysis
