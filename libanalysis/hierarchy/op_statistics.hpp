// Host and device time of every op path.
#pragma once

#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/ops.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// The range in which an activity originated: the innermost one open on the launching thread when
/// the call began, else the op that the source itself names; kNoRow when neither is known.
profile::RowIndex origin_of(const DependencyGraph& graph, const RangeTree& tree, ActivityIndex i);

/// Every op path that ran, or launched GPU work, in the window: ordered by device time descending,
/// then by first appearance. An op counts where it starts inside the window or launched work that
/// counts; GPU work counts where it starts. Paths beyond kMostPathBytes of text are left out.
inline constexpr std::size_t kMostPathBytes = std::size_t{64} << 20;
std::vector<OpStatistics> op_statistics(const DependencyGraph& graph, const RangeTree& tree,
                                        const Window& window);

}  // namespace gprofml::analysis
