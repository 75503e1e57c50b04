// Where each device's time went: busy, exposed, idle, and why it was idle.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "libanalysis/graph/time_class.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Idle time by cause, indexed by TimeClass. Sums to the device's idle time exactly.
using IdleByCause = std::array<profile::Nanoseconds, kTimeClassCount>;

/// One physical device in the window. Counts and sums are over activities that overlap the window,
/// at their whole durations; lengths of unions (busy, *_union, *_exposed) are clipped to it.
struct DeviceTimeline {
  profile::RowIndex device = profile::kNoRow;
  std::int64_t kernels = 0;
  std::int64_t copies = 0;
  std::int64_t fills = 0;
  std::int64_t graph_launches = 0;  ///< CUDA graphs recorded as a whole
  profile::Nanoseconds kernel_ns = 0;
  profile::Nanoseconds copy_ns = 0;
  profile::Nanoseconds fill_ns = 0;
  profile::Nanoseconds graph_ns = 0;
  profile::Nanoseconds busy_ns = 0;            ///< union of all work, as recorded
  profile::Nanoseconds busy_corrected_ns = 0;  ///< the same with impossible overruns corrected
  profile::Nanoseconds kernel_union_ns = 0;    ///< kernels, and whole graphs
  profile::Nanoseconds memory_union_ns = 0;    ///< copies and fills
  profile::Nanoseconds communication_union_ns = 0;
  profile::Nanoseconds compute_ns = 0;                ///< the same without communication
  profile::Nanoseconds communication_exposed_ns = 0;  ///< communication while no compute runs
  profile::Nanoseconds copy_exposed_ns = 0;           ///< copy or fill and nothing else
  profile::Nanoseconds span_ns = 0;                   ///< the device's window
  profile::Nanoseconds idle_ns = 0;                   ///< span - busy
  IdleByCause idle_by_cause{};
};

/// All kernels of one name on a device; or all launches of one CUDA graph that was recorded as a
/// whole.
struct KernelStatistics {
  std::string name;
  profile::RowIndex device = profile::kNoRow;
  std::int64_t count = 0;
  profile::Nanoseconds total_ns = 0;
  profile::Nanoseconds min_ns = 0;
  profile::Nanoseconds max_ns = 0;
};

struct Timeline {
  profile::Nanoseconds lambda_ns = 0;     ///< λ: the shortest launch latency to expect, one a file
  profile::Nanoseconds Lambda_ns = 0;     ///< Λ: nothing longer is called launch latency
  std::vector<DeviceTimeline> devices;    ///< in the order of Trace::devices, those with GPU work
  std::vector<KernelStatistics> kernels;  ///< by total, descending; then name, device
};

}  // namespace gprofml::analysis
