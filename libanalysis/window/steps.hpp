// Steps of a program, found from named ranges.
#pragma once

#include <string>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// Steps from the range the user names, on the thread that has most of them; else from the
/// profiler's own marks (ProfilerStep#n); else from a range that repeats at least 5 times on one
/// thread without overlap, covers at least half of the GPU's span and has a host action
/// (synchronisation, free, copy to or from the host) in each period. None otherwise.
Steps find_steps(const DependencyGraph& graph, const std::string& range = {});

}  // namespace gprofml::analysis
