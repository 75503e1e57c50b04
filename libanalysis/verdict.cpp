#include "libanalysis/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

namespace gprofml::analysis {

using profile::Nanoseconds;

namespace {

struct Share {
  Bound bound;
  Nanoseconds ns;
};

std::array<Share, 4> shares(const CriticalPath& path) {
  const auto ns = [&](TimeClass c) { return path.by_class[static_cast<std::size_t>(c)]; };
  Nanoseconds host = 0;
  for (const TimeClass c :
       {TimeClass::launch_latency, TimeClass::launch_call, TimeClass::slow_launch_call,
        TimeClass::runtime_call, TimeClass::sync_return, TimeClass::host_code,
        TimeClass::after_last_gpu_work}) {
    host += ns(c);
  }
  return {
      {{Bound::gpu, ns(TimeClass::kernel) + ns(TimeClass::device_gap) + ns(TimeClass::graph_gap)},
       {Bound::host, host},
       {Bound::communication,
        ns(TimeClass::communication) + ns(TimeClass::comm_wait) + ns(TimeClass::comm_transfer)},
       {Bound::copy, ns(TimeClass::copy) + ns(TimeClass::fill)}}};
}

double percent(Nanoseconds part, Nanoseconds whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0;
}

// The class that holds most of the path among the host's, so that the sentence says what to look at
// and not only who is to blame.
std::string_view largest_host_cause(const CriticalPath& path) {
  TimeClass best = TimeClass::host_code;
  for (int c = static_cast<int>(TimeClass::launch_latency);
       c <= static_cast<int>(TimeClass::after_last_gpu_work); ++c) {
    if (path.by_class[static_cast<std::size_t>(c)] >
        path.by_class[static_cast<std::size_t>(best)]) {
      best = static_cast<TimeClass>(c);
    }
  }
  return description_of(best);
}

std::string idle_words(const Report& report) {
  Nanoseconds idle = 0, span = 0;
  for (const DeviceReport& d : report.devices) {
    idle += d.timeline.idle_ns;
    span += d.timeline.span_ns;
  }
  return fmt::format("{} idle {:.0f} % of the time",
                     report.devices.size() == 1 ? "the GPU is" : "the GPUs are",
                     percent(idle, span));
}

std::string sentence(const Report& report, Bound bound, Nanoseconds ns) {
  const CriticalPath& path = report.critical_path;
  const double share = percent(ns, path.window_ns);
  switch (bound) {
    case Bound::host:
      return fmt::format(
          "HOST-BOUND: {:.0f} % of the critical path is host work, most of it {}; {}.", share,
          largest_host_cause(path), idle_words(report));
    case Bound::gpu:
      return fmt::format("GPU-BOUND: {:.0f} % of the critical path is kernels; {}.", share,
                         idle_words(report));
    case Bound::communication:
      return fmt::format("COMMUNICATION-BOUND: {:.0f} % of the critical path is communication; {}.",
                         share, idle_words(report));
    case Bound::copy:
      return fmt::format("COPY-BOUND: {:.0f} % of the critical path is copies and fills; {}.",
                         share, idle_words(report));
    case Bound::unknown:
      break;
  }
  return {};
}

std::string partial_sentence(const Report& report) {
  const CriticalPath& path = report.critical_path;
  if (path.partial_because.size() == 1 &&
      path.partial_because.front() == "idle issued_no_recorded_reason") {
    return "NOT JUDGED: too much GPU idle time has no recorded reason; calls or kernels are "
           "missing.";
  }
  return fmt::format(
      "NOT JUDGED: {:.0f} % of the critical path is unknown and {:.0f} % rests on inferred "
      "dependencies.",
      percent(path.unknown_ns, path.window_ns), percent(path.inferred_ns, path.window_ns));
}

}  // namespace

Verdict judge(const Report& report) {
  Verdict verdict;
  if (!report.critical_path.exists) {
    verdict.sentence = report.run.end_ns > report.run.start_ns
                           ? "NO GPU WORK: the trace holds host events only."
                           : "NO GPU WORK: the trace holds no event with a duration.";
    return verdict;
  }
  if (report.critical_path.partial) {
    verdict.sentence = partial_sentence(report);
    return verdict;
  }
  const auto all = shares(report.critical_path);
  const auto largest = std::max_element(all.begin(), all.end(),
                                        [](const Share& a, const Share& b) { return a.ns < b.ns; });
  verdict.bound = largest->bound;
  verdict.sentence = sentence(report, largest->bound, largest->ns);
  return verdict;
}

}  // namespace gprofml::analysis
