#include "libanalysis/graph/graph_edges.hpp"

#include <set>
#include <utility>

namespace gprofml::analysis {

using profile::RowIndex;

GraphEdges::GraphEdges(const profile::Trace& trace) {
  const auto& nodes = trace.graph_nodes;
  if (trace.graph_edges.empty()) return;
  first_.assign(nodes.size() + 1, 0);
  for (const profile::GraphEdge& edge : trace.graph_edges) ++first_[edge.target + 1];
  for (std::size_t node = 0; node < nodes.size(); ++node) first_[node + 1] += first_[node];
  sources_.resize(trace.graph_edges.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  std::set<std::pair<RowIndex, std::int64_t>> graphs;  // process, graph
  for (const profile::GraphEdge& edge : trace.graph_edges) {
    sources_[next[edge.target]++] = edge.source;
    graphs.emplace(nodes[edge.target].process, nodes[edge.target].graph_id);
  }
  recorded_.reserve(nodes.size());
  for (const profile::GraphNode& node : nodes) {
    recorded_.push_back(graphs.count({node.process, node.graph_id}) != 0);
  }
}

}  // namespace gprofml::analysis
