// The dependency graph over GPU activities and host calls, as indices the analyses walk.
#pragma once

#include "libanalysis/graph/activities.hpp"
#include "libanalysis/graph/blocking_calls.hpp"
#include "libanalysis/graph/call_traits.hpp"
#include "libanalysis/graph/end_order.hpp"
#include "libanalysis/graph/event_waits.hpp"
#include "libanalysis/graph/host_threads.hpp"
#include "libanalysis/graph/launch_latency.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Everything derived from a trace that says what could have had to wait for what. Stream and
/// thread order are implicit (indices), event waits and launches explicit. Holds a reference to the
/// trace, which must outlive it; not copyable, for its parts refer to each other.
struct DependencyGraph {
  explicit DependencyGraph(const profile::Trace& t)
      : trace(t),
        work(t),
        threads(t),
        traits(t),
        waits(t, work),
        latency(measure_launch_latency(t, work, waits)),
        stream_ends(work, work.stream, t.streams.size()),
        process_ends(work, work.process, t.processes.size()),
        blocking(t, work, traits, stream_ends, process_ends) {}
  DependencyGraph(const DependencyGraph&) = delete;
  DependencyGraph& operator=(const DependencyGraph&) = delete;

  const profile::Trace& trace;
  Activities work;
  HostThreads threads;
  CallTraitsTable traits;
  EventWaits waits;
  LaunchLatency latency;
  EndOrder stream_ends;   ///< the activities of each stream by their ends
  EndOrder process_ends;  ///< of each process
  BlockingCalls blocking;

  /// Whether a call puts work on a GPU: work of it was recorded, or its name says so.
  bool submits(profile::RowIndex call) const {
    return traits.of(call).submits || !work.work_of_call(call).empty();
  }

  profile::Nanoseconds launch_start_ns(ActivityIndex i) const {
    return trace.api_calls.start_ns[work.call[i]];
  }
  profile::Nanoseconds launch_end_ns(ActivityIndex i) const {
    return trace.api_calls.end_ns[work.call[i]];
  }
};

}  // namespace gprofml::analysis
