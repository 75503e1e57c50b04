// What the recorder gave up to hold its overhead budget.
#pragma once

#include <string>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// A clause with the times since the recording's beginning, of several processes the first of each:
/// "call stacks given up after 1.0 s, memory events after 2.0 s; from 3.0 s on 4 windows recorded".
/// Empty where nothing was given up.
std::string given_up(const profile::Trace& trace);

}  // namespace gprofml::analysis
