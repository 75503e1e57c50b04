// Which chain of waits made the window as long as it is.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libanalysis/graph/time_class.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// A stretch of the critical path. `subject` tells which event it is about: a GPU activity, an API
/// call, a host range, or nothing.
struct PathSegment {
  enum class Subject : std::uint8_t { none, activity, call, range };

  TimeClass time_class = TimeClass::host_code;
  Subject subject = Subject::none;
  std::uint32_t row = profile::kNoRow;         ///< Activities index, api_calls row or ranges row
  profile::RowIndex thread = profile::kNoRow;  ///< host thread, for host classes
  profile::Nanoseconds start_ns = 0;
  profile::Nanoseconds duration_ns = 0;  ///< > 0
  bool inferred = false;                 ///< reached over a dependency that was not recorded
};

struct CriticalPath {
  bool exists = false;  ///< false without GPU activity: then there is no path
  profile::Nanoseconds window_ns = 0;
  profile::Nanoseconds segments_total_ns = 0;  ///< = window_ns, always
  profile::Nanoseconds gpu_ns = 0;             ///< kernel, communication, copy, fill
  profile::Nanoseconds inferred_ns = 0;
  profile::Nanoseconds unknown_ns = 0;
  bool partial = false;
  std::vector<std::string> partial_because;
  std::array<profile::Nanoseconds, kTimeClassCount> by_class{};
  std::array<profile::Nanoseconds, kTimeClassCount> inferred_by_class{};  ///< sums to inferred_ns
  std::vector<PathSegment> segments;  ///< in time order, a partition of the window
};

}  // namespace gprofml::analysis
