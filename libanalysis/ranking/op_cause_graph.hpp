// The op-to-hardware-event graph: who accounts for the nanoseconds of the critical path.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libanalysis/critical_path/critical_path.hpp"
#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"
#include "libanalysis/ranking/charged_delays.hpp"
#include "libanalysis/ranking/ranking.hpp"

namespace gprofml::analysis {

/// Three layers. An op (path with layer numbers starred, "(no op)" outside all ranges) leads to the
/// carriers of its time on the path: a kernel, copy or fill by name, a CUDA call by its bare name,
/// host code by the name of its innermost range ("host code" outside of all). Time with no event
/// behind it (no launch record and the like) is carried by its own class. A carrier leads to
/// causes: `running` for kernels, `copy_engine` for copies and fills, else the class of the path.
/// Both edges weigh ns of the path, so what leaves the ops, what enters the causes, and the path
/// are the same sum. A carrier also leads to the carriers it waited for.
struct OpCauseGraph {
  struct Node {
    RankKind kind = RankKind::op;
    std::string name;                  ///< unique within its kind
    profile::Nanoseconds path_ns = 0;  ///< its exact time on the critical path
  };
  struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    profile::Nanoseconds ns = 0;  ///< > 0: time of `from` that `to` accounts for
  };

  std::vector<Node> nodes;  ///< by kind, then name
  std::vector<Edge> edges;  ///< by from, then to; no two alike
  profile::Nanoseconds path_ns = 0;
};

/// The graph of a critical path and the delays near it. A carrier that is charged with delays but
/// has no time on the path itself leads to what it does, with the ns charged to it.
OpCauseGraph build_op_cause_graph(const DependencyGraph& graph, const RangeTree& tree,
                                  const CriticalPath& path,
                                  const std::vector<ChargedDelay>& delays);

/// The PageRank of the graph: teleport to ops by their time on the path, damping 0.85. Without
/// edges between carriers the score is the share of the path. Splitting a node leaves its sum
/// unchanged when its parts have the same mix of edges, or whatever the mix where no carrier of
/// the graph waits for another.
Ranking rank_nodes(const OpCauseGraph& graph);

}  // namespace gprofml::analysis
