#include "libanalysis/graph/launch_latency.hpp"

#include <algorithm>
#include <vector>

namespace gprofml::analysis {

using profile::Nanoseconds;

namespace {

constexpr std::size_t kSmallestSample = 20;
constexpr Nanoseconds kAssumedLatency = 5'000;
constexpr Nanoseconds kLambdaFloor = 20'000;
constexpr Nanoseconds kLambdaCeiling = 100'000;

std::vector<Nanoseconds> latency_sample(const profile::Trace& trace, const Activities& work,
                                        const EventWaits& waits) {
  std::vector<Nanoseconds> sample;
  for (ActivityIndex i = 0; i < work.size(); ++i) {
    if (!work.linked(i) || waits.waits(i) || work.work_of_call(work.call[i]).size() != 1) continue;
    const Nanoseconds launch_ns = trace.api_calls.start_ns[work.call[i]];
    const ActivityIndex before = work.stream_predecessor[i];
    if (before != kNoActivity && work.corrected_end_ns[before] > launch_ns) continue;
    sample.push_back(std::max<Nanoseconds>(0, work.start_ns[i] - launch_ns));
  }
  std::sort(sample.begin(), sample.end());
  return sample;
}

}  // namespace

LaunchLatency measure_launch_latency(const profile::Trace& trace, const Activities& activities,
                                     const EventWaits& waits) {
  const std::vector<Nanoseconds> sample = latency_sample(trace, activities, waits);
  const std::size_t n = sample.size();
  Nanoseconds median = kAssumedLatency;
  LaunchLatency latency;
  latency.lambda_ns = kAssumedLatency;
  if (n >= kSmallestSample) {
    latency.lambda_ns = sample[5 * (n - 1) / 100];
    median = sample[(n - 1) / 2];
  }
  // clamped before it is multiplied: a hostile trace may hold a latency of centuries
  latency.Lambda_ns =
      std::clamp(4 * std::min(median, kLambdaCeiling), kLambdaFloor, kLambdaCeiling);
  return latency;
}

}  // namespace gprofml::analysis
