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
  return {{{Bound::gpu, ns(TimeClass::kernel) + ns(TimeClass::cuda_graph) +
                            ns(TimeClass::device_gap) + ns(TimeClass::graph_gap)},
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
std::string largest_host_cause(const Report& report) {
  const CriticalPath& path = report.critical_path;
  TimeClass best = TimeClass::host_code;
  for (int c = static_cast<int>(TimeClass::launch_latency);
       c <= static_cast<int>(TimeClass::after_last_gpu_work); ++c) {
    if (path.by_class[static_cast<std::size_t>(c)] >
        path.by_class[static_cast<std::size_t>(best)]) {
      best = static_cast<TimeClass>(c);
    }
  }
  if (best == TimeClass::runtime_call && !report.path_calls.empty() &&
      2 * report.path_calls.front().path_ns > path.by_class[static_cast<std::size_t>(best)]) {
    return report.path_calls.front().name;
  }
  return std::string(description_of(best));
}

// Busy time over the same window as the path, so that both halves of the sentence share a base.
double busy_percent(const Report& report) {
  Nanoseconds busy = 0;
  for (const DeviceReport& d : report.devices) busy += d.timeline.busy_ns;
  return percent(busy, report.critical_path.window_ns) /
         static_cast<double>(std::max<std::size_t>(report.devices.size(), 1));
}

std::string busy_words(const Report& report) {
  return fmt::format("{} busy {:.0f} % of that time",
                     report.devices.size() == 1 ? "the GPU is" : "the GPUs are on average",
                     busy_percent(report));
}

std::string sentence(const Report& report, Bound bound, Nanoseconds ns) {
  const CriticalPath& path = report.critical_path;
  const double share = percent(ns, path.window_ns);
  switch (bound) {
    case Bound::host:
      return fmt::format(
          "HOST-BOUND: {:.0f} % of the critical path is host work, most of it {}; {}.", share,
          largest_host_cause(report), busy_words(report));
    case Bound::gpu:
      return fmt::format(
          "GPU-BOUND: {:.0f} % of the critical path is kernels and the gaps between "
          "them; {}.",
          share, busy_words(report));
    case Bound::communication:
      return fmt::format("COMMUNICATION-BOUND: {:.0f} % of the critical path is communication; {}.",
                         share, busy_words(report));
    case Bound::copy:
      return fmt::format("COPY-BOUND: {:.0f} % of the critical path is copies and fills; {}.",
                         share, busy_words(report));
    case Bound::unknown:
      break;
  }
  return {};
}

std::string partial_sentence(const Report& report) {
  const CriticalPath& path = report.critical_path;
  if (path.partial_because.size() == 1 &&
      path.partial_because.front() == "idle issued_no_recorded_reason") {
    return "NOT JUDGED: too much GPU idle time has no recorded reason: what the GPU waited for is "
           "not in the trace.";
  }
  return fmt::format(
      "NOT JUDGED: {:.0f} % of the critical path is unknown or rests on dependencies that were not "
      "recorded.",
      percent(path.unknown_ns + path.inferred_ns, path.window_ns));
}

// The walk goes to the GPU only where a recorded call waits for it. A program that asks again and
// again whether the GPU is done makes no such call, nor does one of several processes that share a
// GPU: then the path stays on the host although the GPU hardly rests, and blaming the host is
// wrong.
bool gpu_hardly_rests(const Report& report) {
  constexpr double kHardly = 90.0;
  return busy_percent(report) >= kHardly;
}

std::string unseen_wait_sentence(const Report& report, double share) {
  return fmt::format(
      "NOT JUDGED: {}, yet {:.0f} % of the critical path is host work: no recorded call waits for "
      "the GPU. Does the program poll it (cudaEventQuery, cudaStreamQuery)?",
      busy_words(report), share);
}

// Work cannot start before its launch: beyond a few the clocks of host and GPU do not agree.
bool clocks_disagree(const Quality& quality) {
  return quality.before_launch > 0 && 20 * quality.before_launch >= quality.linked;
}

std::string no_work_sentence(const Report& report) {
  const auto doubt = std::find_if(
      report.quality.warnings.begin(), report.quality.warnings.end(), [](const QualityWarning& w) {
        return w.code == "unknown_category" || w.code == "bad_event" || w.code == "truncated_file";
      });
  if (doubt != report.quality.warnings.end()) {
    return "NO GPU WORK was read, but not all of the file could be: see the warnings.";
  }
  return report.run.end_ns > report.run.start_ns
             ? "NO GPU WORK: the trace holds host events only."
             : "NO GPU WORK: the trace holds no event with a duration.";
}

}  // namespace

Verdict judge(const Report& report) {
  Verdict verdict;
  if (!report.critical_path.exists) {
    verdict.sentence = no_work_sentence(report);
    return verdict;
  }
  if (clocks_disagree(report.quality)) {
    verdict.sentence = fmt::format(
        "NOT JUDGED: {} of {} GPU activities start before the call that launched them; the clocks "
        "of "
        "host and GPU disagree.",
        report.quality.before_launch, report.quality.linked);
    return verdict;
  }
  if (!report.quality.work_left_out.empty()) {
    verdict.sentence = fmt::format(
        "NOT JUDGED: {} were not to be recorded, so idle time may be theirs; record at --level 1.",
        report.quality.work_left_out);
    return verdict;
  }
  if (report.critical_path.partial) {
    verdict.sentence = partial_sentence(report);
    return verdict;
  }
  const auto all = shares(report.critical_path);
  const auto largest = std::max_element(all.begin(), all.end(),
                                        [](const Share& a, const Share& b) { return a.ns < b.ns; });
  if (largest->ns == 0) {
    verdict.sentence = "NOT JUDGED: nothing on the critical path lasted any time.";
    return verdict;
  }
  if (largest->bound == Bound::host && gpu_hardly_rests(report)) {
    verdict.sentence =
        unseen_wait_sentence(report, percent(largest->ns, report.critical_path.window_ns));
    return verdict;
  }
  verdict.bound = largest->bound;
  verdict.sentence = sentence(report, largest->bound, largest->ns);
  return verdict;
}

}  // namespace gprofml::analysis
