// The last-arriver walk: from the end of the window back along what came last.
#pragma once

#include "libanalysis/critical_path/critical_path.hpp"
#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"
#include "libanalysis/timeline/timeline.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// The critical path of the window: definitions.md, "Critical path (last-arriver walk)". Its
/// segments partition the window. `timeline` is asked only whether most idle time has no recorded
/// reason, in which case the path is partial. Does not exist without GPU activity.
CriticalPath find_critical_path(const DependencyGraph& graph, const RangeTree& tree,
                                const Window& window, const Timeline& timeline);

}  // namespace gprofml::analysis
