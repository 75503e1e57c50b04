// The closed list of things a nanosecond can be spent on.
#pragma once

#include <cstdint>
#include <string_view>

namespace gprofml::analysis {

/// Classes of critical-path segments and causes of device idle time. Two uses, one vocabulary:
/// where both know a class it means the same. The names (`name_of`) are keys of the JSON report.
enum class TimeClass : std::uint8_t {
  // work on a GPU (path only)
  kernel,
  communication,
  copy,
  fill,
  cuda_graph,
  // between GPU work and its cause
  device_gap,
  graph_gap,
  launch_latency,
  launch_call,
  slow_launch_call,
  // host
  runtime_call,
  sync_return,
  host_code,
  // several ranks (path only)
  comm_wait,
  comm_transfer,
  // after the last GPU work or CUDA call (path only)
  after_last_gpu_work,
  // unknown: the trace does not say
  issued_no_recorded_reason,
  no_launch_record,
  sync_no_recorded_work,
  thread_not_seen,
  // idle only
  wait_other_device,
  launching_elsewhere,
  before_first,
  after_last,
};

inline constexpr int kTimeClassCount = static_cast<int>(TimeClass::after_last) + 1;

/// The class's name as reports and JSON write it.
std::string_view name_of(TimeClass c);

/// A few words for people, as the text report writes it ("host code between CUDA calls").
std::string_view description_of(TimeClass c);

/// Work on a GPU.
constexpr bool is_gpu_work(TimeClass c) {
  return c <= TimeClass::cuda_graph;
}

/// Time for which the trace does not say the reason.
constexpr bool is_unknown(TimeClass c) {
  return c >= TimeClass::issued_no_recorded_reason && c <= TimeClass::thread_not_seen;
}

}  // namespace gprofml::analysis
