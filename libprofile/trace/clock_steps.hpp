// The clock of a trace is CLOCK_REALTIME, which somebody (NTP, an administrator) may set while a
// program is recorded: all times behind that are off by the step.
#pragma once

#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// A moment at which the clock of the trace was set.
struct ClockStep {
  Nanoseconds before_ns = 0;   ///< the latest that the clock can have shown before it was set
  Nanoseconds after_ns = 0;    ///< the earliest that it can have shown after
  Nanoseconds step_ns = 0;     ///< by how much; > 0: forwards
  Nanoseconds elapsed_ns = 0;  ///< between the two looks that found it
  /// Whether every time of the trace is known to be from before or from after.
  bool is_clear() const { return step_ns > elapsed_ns; }
};

/// The steps of more than 1 ms that the clock pairs show, of the process that shows most of them:
/// processes of one machine share the clock.
std::vector<ClockStep> clock_steps(const Trace& trace);

/// Takes clear steps out of all times of the trace, as if the clock had never been set, and says so
/// in quality notes ("clock_corrected"). Steps backwards, and traces of several hosts, stay as they
/// are. Canonical traces stay canonical. Returns the number of steps taken out.
std::size_t correct_clock_steps(Trace& trace);

}  // namespace gprofml::profile
