// Cross-stream dependencies: which work waits for an event, and which work the event stands for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libanalysis/graph/activities.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Recorded cudaStreamWaitEvent calls. A wait belongs to the first activity launched on its stream
/// at or after the wait call. Its producer is the last activity on the event's stream launched
/// before that very cudaEventRecord call; without a recorded record there is a wait, but no edge.
class EventWaits {
 public:
  EventWaits(const profile::Trace& trace, const Activities& activities);

  /// Whether a recorded wait belongs to the activity, with or without a known producer.
  bool waits(ActivityIndex i) const { return waits_[i]; }

  /// The known producers of the events an activity waits for, in order.
  std::span<const ActivityIndex> producers(ActivityIndex i) const;

 private:
  struct Edge {
    ActivityIndex consumer;
    ActivityIndex producer;
  };

  std::vector<bool> waits_;
  std::vector<Edge> edges_;  // by consumer, then producer
  std::vector<ActivityIndex> producers_;
};

}  // namespace gprofml::analysis
