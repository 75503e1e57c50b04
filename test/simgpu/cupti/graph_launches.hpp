// With graph-level tracing a launch of a graph is one record and its nodes have none. The engine
// tells of nodes one by one; they belong together until the call that launched them ends.
#pragma once

#include <cstdint>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

/// Whether the activity is part of a graph that is traced as a whole; then it is remembered as
/// such.
bool joins_graph_launch(const Placement& at);

/// The call is over: if it launched a graph that is traced as a whole, here is its record.
void finish_graph_launch(std::uint32_t correlation);

}  // namespace gprofml::simgpu::cupti
