// A Report of a small decode loop whose parts add up, as the analysis would give it.
#pragma once

#include <numeric>
#include <random>

#include "libanalysis/report/report.hpp"

namespace gprofml::test {

inline void set_class(std::array<profile::Nanoseconds, analysis::kTimeClassCount>& by_class,
                      analysis::TimeClass time_class, profile::Nanoseconds ns) {
  by_class[static_cast<std::size_t>(time_class)] = ns;
}

inline analysis::DeviceReport decode_device() {
  using analysis::TimeClass;
  analysis::DeviceReport device;
  device.id = 0;
  device.name = "NVIDIA H200";
  device.processes = {41207};
  analysis::DeviceTimeline& time = device.timeline;
  time.device = 0;
  time.kernels = 1684;
  time.span_ns = 38'520'049;
  time.compute_ns = 24'820'049;
  time.copy_exposed_ns = 449'951;
  time.memory_union_ns = 549'951;
  time.busy_ns = time.busy_corrected_ns = time.compute_ns + time.copy_exposed_ns;
  time.idle_ns = time.span_ns - time.busy_ns;
  set_class(time.idle_by_cause, TimeClass::host_code, 7'420'000);
  set_class(time.idle_by_cause, TimeClass::launch_call, 4'020'000);
  set_class(time.idle_by_cause, TimeClass::sync_return, time.idle_ns - 7'420'000 - 4'020'000);
  return device;
}

inline analysis::Report decode_report() {
  using namespace analysis;
  Report report;
  report.run.source = "run.db";
  report.run.command = "llama_infer";
  report.run.start_ns = 1'000'000'000;
  report.run.end_ns = 1'061'400'000;
  report.window.kind = WindowKind::steps;
  report.window.from_ns = 1'020'000'000;
  report.window.to_ns = report.window.from_ns + 38'520'049;
  report.window.steps = 4;
  report.window.left_out = {{"before the steady steps", 20'000'000}};
  report.quality.calls = 2000;
  report.quality.submissions = report.quality.linked_submissions = report.quality.linked = 1684;
  report.clock_bound_ns = 1'100;
  report.steps.count = 5;
  report.steps.kind = "step";
  report.steps.source = "ranges:ProfilerStep";
  report.steps.confidence = 0.98;
  report.steps.median_ns = 9'620'000;
  report.steps.p95_ns = 9'910'000;
  report.steps.p99_ns = 11'400'000;
  for (int i = 0; i < 5; ++i) {
    Step step;
    step.start_ns = report.window.from_ns + (i - 1) * 9'630'012;
    step.end_ns = step.start_ns + 9'630'012;
    step.steady = i > 0;
    report.steps.steps.push_back(step);
  }
  report.verdict = {Bound::host, "HOST-BOUND: the GPU waits for the host 34.4 % of the time."};
  report.devices = {decode_device()};
  report.kernels = {{"void gemv<float>(float*)", 0, 1200, 20'000'000, 10'000, 30'000},
                    {"rms_norm", 0, 400, 4'000'000, 9'000, 12'000},
                    {"softmax", 0, 84, 820'049, 5'000, 12'000}};
  report.kernel_device_ids = {0, 0, 0};
  report.ops = {{"decode_step", OpSource::range, 4, 38'000'000, 25'000'000, 1684},
                {"decode_step/attention", OpSource::range, 128, 9'000'000, 820'049, 84}};
  report.critical_path.exists = true;
  report.critical_path.window_ns = report.critical_path.segments_total_ns = 38'520'049;
  report.critical_path.gpu_ns = 25'270'000;
  report.critical_path.inferred_ns = 1'000'000;
  report.critical_path.inferred_by_class[static_cast<std::size_t>(analysis::TimeClass::host_code)] =
      1'000'000;
  set_class(report.critical_path.by_class, TimeClass::kernel, 24'820'049);
  set_class(report.critical_path.by_class, TimeClass::copy, 449'951);
  set_class(report.critical_path.by_class, TimeClass::host_code, 13'000'000);
  set_class(report.critical_path.by_class, TimeClass::no_launch_record, 250'049);
  report.segments = {{TimeClass::kernel, "gemv", 1'020'000'000, 24'820'049, false},
                     {TimeClass::copy, "Memcpy DtoH", 1'044'820'049, 449'951, false},
                     {TimeClass::host_code, "sample", 1'045'270'000, 13'000'000, true},
                     {TimeClass::no_launch_record, "", 1'058'270'000, 250'049, false}};
  report.ranking.nodes = {{RankKind::cause, "host_code", 0.6, 0.3375},
                          {RankKind::cause, "running", 0.4, 0.6625}};
  report.abstained = {{"occupancy", "no hardware counters recorded", ""},
                      {"precision", "no hardware counters recorded", ""}};
  return report;
}

/// Random non-negative parts; about a third of them zero, sizes over several magnitudes.
inline profile::Nanoseconds random_ns(std::mt19937_64& random) {
  if (random() % 3 == 0) return 0;
  const std::uint64_t magnitude = std::uint64_t{1} << (random() % 42);
  return static_cast<profile::Nanoseconds>(random() % magnitude);
}

/// A report with random figures that add up where the analysis' figures do, and hostile names.
inline analysis::Report random_report(std::mt19937_64& random) {
  using namespace analysis;
  const auto name = [&random] {
    std::string text(random() % 120, 'x');
    for (char& c : text)
      c = random() % 5 == 0 ? static_cast<char>(random()) : "a:_<, 1"[random() % 7];
    return text;
  };
  Report report = decode_report();
  report.run.source = name();
  report.run.command = name();
  report.verdict.sentence = name();
  report.quality.warnings = {{name(), 3, name() + name()}};
  report.abstained = {{name(), name(), name()}};
  report.steps.source = "ranges:" + name();
  if (random() % 2 == 0) report.window.kind = WindowKind::all;
  report.devices.assign(random() % 7, decode_device());
  for (DeviceReport& device : report.devices) {
    DeviceTimeline& time = device.timeline;
    device.name = name();
    device.host = name();
    time.idle_by_cause = {};
    for (auto& ns : time.idle_by_cause) ns = random_ns(random);
    time.idle_ns = std::accumulate(time.idle_by_cause.begin(), time.idle_by_cause.end(),
                                   profile::Nanoseconds{0});
    time.compute_ns = random_ns(random);
    time.copy_exposed_ns = random_ns(random);
    time.communication_exposed_ns = random_ns(random);
    time.communication_union_ns = time.communication_exposed_ns + random_ns(random);
    time.memory_union_ns = time.copy_exposed_ns + random_ns(random);
    time.busy_ns = time.compute_ns + time.copy_exposed_ns + time.communication_exposed_ns;
    time.span_ns = time.busy_ns + time.idle_ns;
  }
  for (KernelStatistics& kernel : report.kernels) {
    kernel.name = name();
    kernel.total_ns = random_ns(random);
    kernel.count = 1 + static_cast<std::int64_t>(random() % 1'000'000);
  }
  for (OpStatistics& op : report.ops) op.path = name();
  CriticalPath& path = report.critical_path;
  path.by_class = {};
  for (auto& ns : path.by_class) ns = random_ns(random);
  path.window_ns =
      std::accumulate(path.by_class.begin(), path.by_class.end(), profile::Nanoseconds{0});
  path.partial = random() % 2 == 0;
  path.partial_because = {name()};
  for (SegmentReport& segment : report.segments) segment.name = name();
  return report;
}

}  // namespace gprofml::test
