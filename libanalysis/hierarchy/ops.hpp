// Which operation caused which GPU work: op → call → kernel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Where an op's name is from.
enum class OpSource : std::uint8_t {
  range,          ///< a range or framework op that was recorded, with its times
  call_stack,     ///< names of functions: when they began and ended is not known
  kernel_family,  ///< kinds of kernels, where nothing else has a name
};

/// The name that JSON uses for it.
std::string_view name_of(OpSource source);

/// All executions of one op path. Host and device time are totals over the op and its children.
struct OpStatistics {
  std::string path;  ///< names from the outermost op inwards, joined by '/'; a '/' in a name is '∕'
  OpSource source = OpSource::range;
  std::int64_t count = 0;              ///< of what is no range: calls that launched work in it
  profile::Nanoseconds host_ns = 0;    ///< sum of the op's own durations on its thread;
                                       ///< kUnknown: nothing recorded them
  profile::Nanoseconds device_ns = 0;  ///< sum over GPU work launched inside it
  std::int64_t kernels = 0;            ///< kernels, copies and fills launched inside it
};

}  // namespace gprofml::analysis
