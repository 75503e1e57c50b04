// Report: everything one analysis found, as plain values; text and JSON are renderings of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libanalysis/critical_path/critical_path.hpp"
#include "libanalysis/hierarchy/ops.hpp"
#include "libanalysis/quality/quality.hpp"
#include "libanalysis/ranking/ranking.hpp"
#include "libanalysis/report/program_metrics.hpp"
#include "libanalysis/serving/serving.hpp"
#include "libanalysis/timeline/timeline.hpp"
#include "libanalysis/window/window.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

struct RunInfo {
  std::string source;   ///< the input as the user named it
  std::string command;  ///< the traced program's command line, where known
  bool simulated = false;
  profile::Nanoseconds start_ns =
      0;  ///< first and last time stamp of anything recorded, ranges too
  profile::Nanoseconds end_ns = 0;
};

enum class Bound : std::uint8_t { unknown, gpu, host, communication, copy };

/// The names that JSON uses for the two.
std::string_view name_of(Bound bound);
std::string_view name_of(WindowKind kind);

struct Verdict {
  Bound bound = Bound::unknown;
  std::string sentence;
};

/// A question that the data could not answer, what is missing, and the switch that records it.
struct Abstention {
  std::string rule;
  std::string missing;
  std::string switch_to_record;
};

/// A device as the report names it, with its time line.
struct DeviceReport {
  std::int64_t id = profile::kUnknown;  ///< ordinal as recorded
  std::string name;
  std::string uuid;
  std::string host;
  std::vector<std::int64_t> processes;  ///< pids that used it
  DeviceTimeline timeline;
};

/// A critical-path segment with its names resolved.
struct SegmentReport {
  TimeClass time_class = TimeClass::host_code;
  std::string name;
  profile::Nanoseconds start_ns = 0;
  profile::Nanoseconds duration_ns = 0;
  bool inferred = false;
};

/// Time on the critical path in calls of one name, other than launches. The first call of a process
/// creates its context and stands apart: its name says so.
struct CallOnPath {
  std::string name;
  profile::Nanoseconds path_ns = 0;
};

struct Report {
  RunInfo run;
  Window window;
  Quality quality;
  std::int64_t clock_bound_ns = profile::kUnknown;
  Steps steps;
  Verdict verdict;
  profile::Nanoseconds lambda_ns = 0;
  profile::Nanoseconds Lambda_ns = 0;
  std::vector<DeviceReport> devices;
  std::vector<KernelStatistics> kernels;  ///< `device` is an index into Trace::devices
  std::vector<std::int64_t>
      kernel_device_ids;          ///< the device id as recorded, one a row of `kernels`
  std::vector<OpStatistics> ops;  ///< by device time descending, then path
  CriticalPath critical_path;
  std::vector<CallOnPath> path_calls;   ///< by time, descending
  std::vector<SegmentReport> segments;  ///< critical_path.segments with names, where asked for
  Ranking ranking;
  Serving serving;                     ///< without requests: no range marks one
  std::vector<ProgramMetric> metrics;  ///< by name
  std::vector<Abstention> abstained;
};

}  // namespace gprofml::analysis
