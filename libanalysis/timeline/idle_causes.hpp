// Why a device was idle, instant by instant.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/graph/host_walk.hpp"
#include "libanalysis/graph/time_class.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// A stretch of idle time of one device with its cause.
struct IdlePiece {
  TimeClass cause;
  profile::Nanoseconds start_ns;
  profile::Nanoseconds end_ns;
};

/// The causes of every gap of one device on the whole trace: definitions.md, "Device time and idle
/// causes". `work` is the device's activities in order. The pieces of a gap partition it.
void find_idle_causes(const DependencyGraph& graph, std::span<const ActivityIndex> work,
                      const std::function<void(const IdlePiece&)>& receive);

}  // namespace gprofml::analysis
