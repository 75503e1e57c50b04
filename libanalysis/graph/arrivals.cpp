#include "libanalysis/graph/arrivals.hpp"

#include <algorithm>
#include <tuple>

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

Arrivals::Arrivals(const DependencyGraph& graph)
    : graph_(graph), barriers_(graph.trace, graph.work) {
  for (RowIndex call = 0; call < graph.trace.api_calls.size(); ++call) {
    if (graph.work.work_of_call(call).size() > 1) find_nodes_before(call);
  }
}

// One sweep over a launch: its nodes by start, and beside them the same nodes by end.
void Arrivals::find_nodes_before(RowIndex call) {
  const Activities& work = graph_.work;
  if (node_before_.empty()) node_before_.assign(work.size(), kNoActivity);
  const auto nodes = work.work_of_call(call);
  std::vector<ActivityIndex> by_end(nodes.begin(), nodes.end());
  std::sort(by_end.begin(), by_end.end(), [&](ActivityIndex a, ActivityIndex b) {
    return std::tie(work.corrected_end_ns[a], a) < std::tie(work.corrected_end_ns[b], b);
  });
  std::size_t ended = 0;
  for (const ActivityIndex node : nodes) {
    while (ended < by_end.size() && work.corrected_end_ns[by_end[ended]] <= work.start_ns[node]) {
      ++ended;
    }
    // nodes of no length may have ended by now and still come later in order
    std::size_t last = ended;
    while (last > 0 && by_end[last - 1] >= node) --last;
    if (last > 0) node_before_[node] = by_end[last - 1];
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
  if (!node_before_.empty()) device(node_before_[i]);
  if (work.linked(i)) {
    const Nanoseconds ready = graph_.launch_start_ns(i) + graph_.latency.lambda_ns;
    arrivals.push_back({kNoActivity, work.call[i], std::min(ready, start)});
  }
}

}  // namespace gprofml::analysis
