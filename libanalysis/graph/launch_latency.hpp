// How long a launch takes to reach an idle device on this machine, measured from the trace itself.
#pragma once

#include "libanalysis/graph/activities.hpp"
#include "libanalysis/graph/event_waits.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

struct LaunchLatency {
  profile::Nanoseconds lambda_ns = 5'000;   ///< λ: 5th percentile of the sample
  profile::Nanoseconds Lambda_ns = 20'000;  ///< Λ = clamp(4 · median, 20 us, 100 us)
};

/// The sample is start of work − start of its call, at least 0, over work that is the only work of
/// its call, waits for no event, and whose stream was empty when the call began. With fewer than
/// 20 such launches both percentile and median are taken as 5 us.
LaunchLatency measure_launch_latency(const profile::Trace& trace, const Activities& activities,
                                     const EventWaits& waits);

}  // namespace gprofml::analysis
