// Which operation caused which GPU work: op → call → kernel.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// All executions of one op path. Host and device time are totals over the op and its children.
struct OpStatistics {
  std::string path;  ///< names from the outermost op inwards, joined by '/'; a '/' in a name is '∕'
  std::int64_t count = 0;
  profile::Nanoseconds host_ns = 0;    ///< sum of the op's own durations on its thread
  profile::Nanoseconds device_ns = 0;  ///< sum over GPU work launched inside it
  std::int64_t kernels = 0;            ///< kernels, copies and fills launched inside it
};

}  // namespace gprofml::analysis
