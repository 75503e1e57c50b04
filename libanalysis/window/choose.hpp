// The window of the analysis: what was asked for, found in the trace.
#pragma once

#include <optional>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// From the first start to the last end of any activity, call or op; nullopt for an empty trace.
/// Ranges, annotations and Python frames never stretch it.
std::optional<Window> whole_trace(const DependencyGraph& graph);

/// The window that `request` names. Steps: from the first GPU work of the first steady step to the
/// first launched after the last step; where nothing was launched after it, to the first of the
/// last step, so that only whole periods count. (definitions.md ends such a window with the last
/// GPU work; kineto/resnet50_num_workers_0 then has 164.1 ms a step, less than any of its steps
/// takes, since the host's work before the first launch falls out of one step and no other makes up
/// for it.) Automatic: steps when they were found with confidence >= 0.8 and two are whole and
/// steady, else everything: a window of one step loses the host time before its first launch, which
/// turned hta/triton_example from host-bound to GPU-bound. Of a recording in several windows only
/// one is analysed, by default the longest, or the steps in it. Throws std::invalid_argument with a
/// sentence for the user when there are no steps, or no such range.
Window choose_window(const DependencyGraph& graph, const Steps& steps,
                     const WindowRequest& request);

}  // namespace gprofml::analysis
