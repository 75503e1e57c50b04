// Keeps the arithmetic of all analyses inside 64 bits.
#pragma once

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Throws std::invalid_argument, with a sentence that names table and row, when a time lies further
/// than 2^61 ns (73 years) from its zero or the durations of all events add up to more than that:
/// no recording does, and sums of nanoseconds would no longer be certain to fit.
void require_plausible_times(const profile::Trace& trace);

}  // namespace gprofml::analysis
