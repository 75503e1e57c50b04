// From the dependency graph to the time line of every device.
#pragma once

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/timeline/timeline.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// Time lines of all devices that did any work in the trace. For WindowKind::all a device's window
/// is its own first start to last end, so that span − busy is idle; for other windows it is the
/// window itself, and time outside the device's work is `before_first` or `after_last`.
Timeline build_timeline(const DependencyGraph& graph, const Window& window);

}  // namespace gprofml::analysis
