// How much later each event could have happened without anything ending later.
#pragma once

#include <limits>
#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"

namespace gprofml::analysis {

/// What must not move: the start of an activity, or without one every end up to an instant.
struct Sink {
  profile::Nanoseconds at_ns = 0;
  ActivityIndex activity = kNoActivity;
};

/// The sink of a window that ends with its last event: the last end, by `until_ns`, of GPU work
/// that starts before it and of CUDA calls.
Sink sink_at_last_end(const DependencyGraph& graph, profile::Nanoseconds until_ns);

/// Slack over the recorded dependencies: stream order, event waits, order in a graph launch, call →
/// the work it launched, awaited work → return of the blocking call, call → next call of its
/// thread. Every event starts a fixed time after its latest arrival, as recorded: gaps between
/// kernels, host code between calls and the return from a synchronisation keep their length. So an
/// event that moves by d moves another one by d less the time that the other one waited for a later
/// arrival, and slack(u) = min over the events v that u precedes of slack(v) + that time: one pass
/// in reverse topological order (Kelley, Walker: "Critical-Path Planning and Scheduling", 1959).
///
/// Work that the clocks put before its own launch does not depend on it here.
class Slack {
 public:
  /// No delay of the event moves the sink.
  static constexpr profile::Nanoseconds kUnlimited =
      std::numeric_limits<profile::Nanoseconds>::max();

  Slack(const DependencyGraph& graph, const Sink& sink);

  /// By how much the start, and with it the end, of GPU work can move.
  profile::Nanoseconds of_work(ActivityIndex i) const { return of_node_[i]; }

  /// By how much the start of a call that is inside no other can move.
  profile::Nanoseconds of_call(profile::RowIndex call) const { return of_node_[start_node_[call]]; }

  /// By how much its return can move: more than its start where that wait would only be shorter.
  profile::Nanoseconds of_return(profile::RowIndex call) const { return of_node_[end_node_[call]]; }

 private:
  std::vector<profile::Nanoseconds> of_node_;
  std::vector<std::uint32_t> start_node_;  // by call
  std::vector<std::uint32_t> end_node_;
};

}  // namespace gprofml::analysis
