// A Report in which every field holds a value of its own, to see where each one ends up.
#pragma once

#include "libanalysis/report/report.hpp"

namespace gprofml::test {

/// The classes that the critical path, and the causes that idle time can have.
inline bool is_path_class(analysis::TimeClass c) {
  return c < analysis::TimeClass::wait_other_device;
}
inline bool is_idle_cause(analysis::TimeClass c) {
  using analysis::TimeClass;
  return !analysis::is_gpu_work(c) && c != TimeClass::comm_wait && c != TimeClass::comm_transfer &&
         c != TimeClass::after_last_gpu_work;
}

inline analysis::DeviceReport populated_device() {
  analysis::DeviceReport device;
  device.id = 301;
  device.name = "NVIDIA H200";
  device.uuid = "GPU-5c1e";
  device.host = "node7";
  device.processes = {302, profile::kUnknown};
  analysis::DeviceTimeline& time = device.timeline;
  time.device = 0;
  time.kernels = 303;
  time.copies = 304;
  time.fills = 305;
  time.kernel_ns = 306;
  time.copy_ns = 307;
  time.fill_ns = 308;
  time.busy_ns = 309;
  time.busy_corrected_ns = 310;
  time.kernel_union_ns = 311;
  time.memory_union_ns = 312;
  time.communication_union_ns = 313;
  time.compute_ns = 314;
  time.communication_exposed_ns = 315;
  time.copy_exposed_ns = 316;
  time.span_ns = 317;
  time.idle_ns = 318;
  time.graph_launches = 319;
  time.graph_ns = 320;
  for (int i = 0; i < analysis::kTimeClassCount; ++i) {
    if (is_idle_cause(static_cast<analysis::TimeClass>(i))) {
      time.idle_by_cause[static_cast<std::size_t>(i)] = 400 + i;
    }
  }
  return device;
}

inline analysis::CriticalPath populated_path() {
  analysis::CriticalPath path;
  path.exists = true;
  path.window_ns = 501;
  path.segments_total_ns = 502;
  path.gpu_ns = 503;
  path.inferred_ns = 504;
  path.unknown_ns = 505;
  path.partial = true;
  path.partial_because = {"too little is known"};
  for (int i = 0; i < analysis::kTimeClassCount; ++i) {
    if (is_path_class(static_cast<analysis::TimeClass>(i))) {
      path.by_class[static_cast<std::size_t>(i)] = 600 + i;
    }
  }
  return path;
}

inline analysis::Steps populated_steps() {
  analysis::Steps steps;
  steps.count = 201;
  steps.kind = "step";
  steps.source = "ranges:train";
  steps.confidence = 0.1;  // not representable: shows the shortest decimal that reads back
  steps.median_ns = 202;
  steps.p95_ns = 203;
  steps.p99_ns = 204;
  steps.launches = 205;
  steps.signature.launches = 206;
  steps.signature.identical = 207;
  steps.signature.of = 208;
  steps.outliers = {{209, 210, "train#209"}};
  return steps;
}

inline analysis::Report populated_report() {
  using namespace analysis;
  Report report;
  report.run.source = "run.db";
  report.run.command = "./llama_infer";
  report.run.simulated = true;
  report.run.start_ns = 1'764'597'781'000'000'001;  // a double would lose the last digits
  report.run.end_ns = 1'764'597'781'000'000'999;
  report.window.kind = WindowKind::steps;
  report.window.from_ns = 101;
  report.window.to_ns = 102;
  report.window.recorded_windows = 104;
  report.window.left_out = {{"warm-up", 103}};
  report.quality.calls = 111;
  report.quality.submissions = 112;
  report.quality.linked_submissions = 113;
  report.quality.linked = 114;
  report.quality.unlinked = 115;
  report.quality.coverage = 0.75;
  report.quality.no_timestamp = 116;
  report.quality.overruns = 117;
  report.quality.dropped = 118;
  report.quality.warnings = {{"lost_records", 119, "119 records were lost"}};
  report.clock_bound_ns = 121;
  report.steps = populated_steps();
  report.verdict.bound = Bound::host;
  report.verdict.sentence = "The GPU waits for the host.";
  report.lambda_ns = 131;
  report.Lambda_ns = 132;
  report.devices = {populated_device()};
  report.kernels = {{"gemm", 0, 4, 142, 143, 144}};
  report.kernel_device_ids = {141};
  report.ops = {{"model/mm", OpSource::range, 151, 152, 153, 154}};
  report.critical_path = populated_path();
  report.path_calls = {{"cudaFree", 619}};
  report.segments = {{TimeClass::launch_call, "cudaLaunchKernel", 161, 162, true}};
  report.ranking.iterations = 171;
  report.ranking.residual = 0.25;
  report.ranking.nodes = {{RankKind::carrier, "cudaLaunchKernel", 0.5, 0.375}};
  report.serving.names = {"ask", "read", "word"};
  report.serving.requests = 701;
  report.serving.judged = 702;
  report.serving.left_out = {{"too short", 703}};
  report.serving.tokens = 704;
  report.serving.span_ns = 1'000'000'000;
  report.serving.latency = DurationQuantiles{706, 707, 708, 709};
  report.serving.ttft = DurationQuantiles{710, 711, 712, 713};
  report.serving.tpot = DurationQuantiles{714, 715, 716, 717};
  report.serving.ttft_by_prefill = 718;
  report.serving.ended_before_gpu = 719;
  report.serving.ambiguous = 720;
  report.metrics = {{"tok_s", "([0-9]+) tok", 721, 722.5, 723.5, 724.5}};
  report.abstained = {{"occupancy", "no counters", "--counters core"}};
  return report;
}

}  // namespace gprofml::test
