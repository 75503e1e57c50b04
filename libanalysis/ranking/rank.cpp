#include "libanalysis/ranking/rank.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "libanalysis/ranking/charged_delays.hpp"
#include "libanalysis/ranking/op_cause_graph.hpp"
#include "libanalysis/ranking/pagerank.hpp"

namespace gprofml::analysis {
namespace {

PageRank walk_from_ops(const OpCauseGraph& graph) {
  std::vector<WeightedEdge> edges;
  edges.reserve(graph.edges.size());
  for (const OpCauseGraph::Edge& e : graph.edges) {
    edges.push_back({e.from, e.to, static_cast<double>(e.ns)});
  }
  std::vector<double> teleport(graph.nodes.size(), 0.0);
  for (std::size_t i = 0; i < teleport.size(); ++i) {
    if (graph.nodes[i].kind == RankKind::op) {
      teleport[i] = static_cast<double>(graph.nodes[i].path_ns);
    }
  }
  return page_rank(std::move(edges), teleport);
}

}  // namespace

Ranking rank_nodes(const OpCauseGraph& graph) {
  Ranking ranking;
  if (graph.path_ns == 0) return ranking;
  const PageRank walk = walk_from_ops(graph);
  ranking.iterations = walk.iterations;
  ranking.residual = walk.residual;
  std::array<double, 3> of_kind{};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    of_kind[static_cast<std::size_t>(graph.nodes[i].kind)] += walk.scores[i];
  }
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const OpCauseGraph::Node& n = graph.nodes[i];
    ranking.nodes.push_back({n.kind, n.name,
                             walk.scores[i] / of_kind[static_cast<std::size_t>(n.kind)],
                             static_cast<double>(n.path_ns) / static_cast<double>(graph.path_ns)});
  }
  std::sort(ranking.nodes.begin(), ranking.nodes.end(),
            [](const RankedNode& a, const RankedNode& b) {
              return std::tie(a.kind, b.score, a.name) < std::tie(b.kind, a.score, b.name);
            });
  return ranking;
}

Ranking rank(const DependencyGraph& graph, const RangeTree& tree, const Window& window,
             const Steps& steps, const CriticalPath& path) {
  if (!path.exists) return {};
  const std::vector<ChargedDelay> delays = charged_delays(graph, window, steps);
  return rank_nodes(build_op_cause_graph(graph, tree, path, delays));
}

}  // namespace gprofml::analysis
