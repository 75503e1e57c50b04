// The window of the analysis: what was asked for, found in the trace.
#pragma once

#include <optional>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// From the first start to the last end of any activity, call or op; nullopt for an empty trace.
/// Ranges, annotations and Python frames never stretch it.
std::optional<Window> whole_trace(const DependencyGraph& graph);

/// The window that `request` names. Automatic: the steady steps when steps were found with
/// confidence >= 0.8 and launched GPU work, else everything. Throws std::invalid_argument with a
/// sentence for the user when there are no steps, or no such range.
Window choose_window(const DependencyGraph& graph, const Steps& steps,
                     const WindowRequest& request);

}  // namespace gprofml::analysis
