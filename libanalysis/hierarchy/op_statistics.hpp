// Host and device time of every op path.
#pragma once

#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/ops.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// Every op path that ran, or launched GPU work, in the window: ordered by device time descending,
/// then by first appearance. An op counts where it starts inside the window or launched work that
/// counts; GPU work counts where it starts. An op that a graph replays (see OpPaths) counts once a
/// launch and has no host time of its own then, and so does what a call stack names. Where the
/// window's work has no name of either kind and the trace no range at all, the table is of kernel
/// families. Paths beyond kMostPathBytes of text are left out.
inline constexpr std::size_t kMostPathBytes = std::size_t{64} << 20;
std::vector<OpStatistics> op_statistics(const DependencyGraph& graph, const RangeTree& tree,
                                        const Window& window);

}  // namespace gprofml::analysis
