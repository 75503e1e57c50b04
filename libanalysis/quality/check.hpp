// The integrity pass over a trace.
#pragma once

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/quality/quality.hpp"

namespace gprofml::analysis {

/// Counts what is complete and what is not, and says each doubt once, with its figures.
Quality check_quality(const DependencyGraph& graph);

}  // namespace gprofml::analysis
