// PageRank of one analysis: builds the op-to-hardware-event graph and ranks it.
#pragma once

#include "libanalysis/critical_path/critical_path.hpp"
#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"
#include "libanalysis/ranking/ranking.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// Ranks ops, carriers (kernel and copy classes, API classes, host spans) and causes of the
/// window's critical path: definitions.md, "Op-to-hardware-event graph and PageRank". Empty without
/// a path.
Ranking rank(const DependencyGraph& graph, const RangeTree& tree, const Window& window,
             const Steps& steps, const CriticalPath& path);

}  // namespace gprofml::analysis
