// Time in a trace: signed 64-bit nanoseconds, everywhere and always.
#pragma once

#include <cstdint>

namespace gprofml::profile {

/// A point in time or a duration, in nanoseconds. Points count from the Unix epoch where the
/// source knows it, else from the source's own zero. A double never holds one: at today's epoch a
/// double resolves no better than 256 ns.
using Nanoseconds = std::int64_t;

/// CUPTI writes start = end = 0 for a record whose time stamps were lost: such a record exists and
/// is counted, but has no place on the time line.
constexpr bool has_timestamp(Nanoseconds start, Nanoseconds end) {
  return start != 0 || end != 0;
}

}  // namespace gprofml::profile
