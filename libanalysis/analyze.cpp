#include "libanalysis/analyze.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "libanalysis/critical_path/walk.hpp"
#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/op_statistics.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"
#include "libanalysis/quality/check.hpp"
#include "libanalysis/quality/plausible_times.hpp"
#include "libanalysis/ranking/rank.hpp"
#include "libanalysis/serving/requests.hpp"
#include "libanalysis/timeline/build.hpp"
#include "libanalysis/verdict.hpp"
#include "libanalysis/window/choose.hpp"
#include "libanalysis/window/steps.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::RowIndex;

namespace {

RunInfo run_info(const DependencyGraph& graph, const AnalyzeOptions& options) {
  RunInfo run;
  run.source = options.source;
  const auto& meta = graph.trace.meta;
  if (const auto it = meta.find("command"); it != meta.end()) run.command = it->second;
  // run.db says "simulated"; a foreign file of ours carries the mark in its own header.
  for (const char* mark : {"simulated", "gprofml_simulated"}) {
    const auto it = meta.find(mark);
    if (it == meta.end()) continue;
    run.simulated = run.simulated || (it->second != "false" && it->second != "0");
  }
  // Ranges never stretch a window, but they were recorded: the run is as long as they say.
  const std::optional<Window> all = whole_trace(graph);
  bool any = all.has_value();
  if (any) {
    run.start_ns = all->from_ns;
    run.end_ns = all->to_ns;
  }
  const profile::RangeColumns& ranges = graph.trace.ranges;
  for (RowIndex r = 0; r < ranges.size(); ++r) {
    if (!profile::has_timestamp(ranges.start_ns[r], ranges.end_ns[r])) continue;
    run.start_ns = any ? std::min(run.start_ns, ranges.start_ns[r]) : ranges.start_ns[r];
    run.end_ns = any ? std::max(run.end_ns, ranges.end_ns[r]) : ranges.end_ns[r];
    any = true;
  }
  return run;
}

std::vector<std::int64_t> pids_on_device(const profile::Trace& trace, RowIndex device) {
  std::vector<std::int64_t> pids;
  for (const profile::Context& context : trace.contexts) {
    if (context.device == device) pids.push_back(trace.processes[context.process].pid);
  }
  std::sort(pids.begin(), pids.end());
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

std::string host_of_device(const profile::Trace& trace, RowIndex device) {
  const profile::Device& d = trace.devices[device];
  if (d.host != 0) return std::string(trace.text(d.host));
  if (d.process != kNoRow) return std::string(trace.text(trace.processes[d.process].host));
  return {};
}

DeviceReport device_report(const profile::Trace& trace, const DeviceTimeline& timeline) {
  const profile::Device& d = trace.devices[timeline.device];
  DeviceReport report;
  report.id = d.ordinal;
  report.name = trace.text(d.name);
  report.uuid = trace.text(d.uuid);
  report.host = host_of_device(trace, timeline.device);
  report.processes = pids_on_device(trace, timeline.device);
  report.timeline = timeline;
  return report;
}

// The first CUDA call of a process creates its context, which often takes seconds: say so.
std::vector<bool> initialisation_calls(const profile::Trace& trace) {
  std::vector<RowIndex> first(trace.processes.size(), kNoRow);
  for (RowIndex c = 0; c < trace.api_calls.size(); ++c) {
    RowIndex& f = first[trace.threads[trace.api_calls.thread[c]].process];
    if (f == kNoRow || trace.api_calls.start_ns[c] < trace.api_calls.start_ns[f]) f = c;
  }
  std::vector<bool> initialises(trace.api_calls.size(), false);
  for (const RowIndex c : first) {
    if (c != kNoRow) initialises[c] = true;
  }
  return initialises;
}

std::string call_name(const profile::Trace& trace, const std::vector<bool>& initialises,
                      RowIndex call) {
  std::string name(trace.text(trace.api_calls.name[call]));
  if (initialises[call]) name += ", which initialises CUDA";
  return name;
}

std::vector<SegmentReport> name_segments(const DependencyGraph& graph, const CriticalPath& path) {
  const profile::Trace& trace = graph.trace;
  const std::vector<bool> initialises = initialisation_calls(trace);
  std::vector<SegmentReport> named;
  named.reserve(path.segments.size());
  for (const PathSegment& s : path.segments) {
    SegmentReport report{s.time_class, {}, s.start_ns, s.duration_ns, s.inferred};
    switch (s.subject) {
      case PathSegment::Subject::none:
        break;
      case PathSegment::Subject::activity:
        report.name = graph.work.name(trace, s.row);
        break;
      case PathSegment::Subject::range:
        report.name = trace.text(trace.ranges.name[s.row]);
        break;
      case PathSegment::Subject::call:
        report.name = s.time_class == TimeClass::runtime_call
                          ? call_name(trace, initialises, s.row)
                          : std::string(trace.text(trace.api_calls.name[s.row]));
        break;
    }
    named.push_back(std::move(report));
  }
  return named;
}

std::vector<CallOnPath> calls_on_path(const DependencyGraph& graph, const CriticalPath& path) {
  const std::vector<bool> initialises = initialisation_calls(graph.trace);
  std::map<std::string, profile::Nanoseconds> by_name;
  for (const PathSegment& s : path.segments) {
    if (s.time_class != TimeClass::runtime_call) continue;
    by_name[call_name(graph.trace, initialises, s.row)] += s.duration_ns;
  }
  std::vector<CallOnPath> calls;
  for (const auto& [name, ns] : by_name) calls.push_back({name, ns});
  std::stable_sort(calls.begin(), calls.end(),
                   [](const CallOnPath& a, const CallOnPath& b) { return a.path_ns > b.path_ns; });
  return calls;
}

/// How the user gets what is missing: our own recorder has everything on by default, so there it is
/// the program that must say more.
struct Remedy {
  std::string recorded;
  std::string imported;
};

void abstain(const DependencyGraph& graph, const AnalyzeOptions& options, Report& report) {
  const profile::Trace& trace = graph.trace;
  const bool recorded = trace.meta.count("recorded_by") > 0;
  const auto add = [&](std::string rule, std::string missing, const Remedy& remedy) {
    report.abstained.push_back(
        {std::move(rule), std::move(missing), recorded ? remedy.recorded : remedy.imported});
  };
  if (graph.work.size() == 0) {
    add("critical path, idle causes", "GPU activity",
        {"a run in which CUDA was recorded and kernels ran: see the data line and the warnings",
         "PyTorch: profile with ProfilerActivity.CUDA and make sure kernels ran in the window"});
    return;
  }
  if (trace.api_calls.size() == 0) {
    add("idle causes", "CUDA API calls",
        {"a recording in which no other tool owns CUPTI: see the warnings",
         "PyTorch: profile with ProfilerActivity.CPU as well as ProfilerActivity.CUDA"});
  } else if (report.quality.linked == 0) {
    add("idle causes", "correlation ids between calls and GPU work",
        {"a recording without lost records: see the warnings",
         "a trace whose events keep args.correlation"});
  }
  if (trace.syncs.size() == 0 && !recorded) {  // a recorder that sees none: there was none
    add("waits between streams", "synchronisation records",
        {"", "PyTorch: experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True)"});
  }
  if (report.steps.count > 0 && trace.processes.size() > 1) {
    add("steps and path of every process",
        "steps are those of one process, windows cut the others by them, and the path may leave it",
        {"gprof-ml run in front of one process's own command, a recording each",
         "analyze the file of each rank by itself"});
  }
  if (report.steps.count == 0 && !report.steps.candidate.empty()) {
    const std::string choice =
        fmt::format("--window steps --range '{}', if that is a step", report.steps.candidate);
    add("steps", "a range that repeats over half of the GPU's time with a host action each time",
        {choice, choice});
  }
  if (report.serving.requests > 0 && report.serving.judged == 0) {
    const std::string marks = fmt::format(
        "a range '{}' on the thread of its '{}', or one at a time", options.serving.token,
        options.serving.request);
    add("TTFT, TPOT", "requests whose tokens are known: see the serving line", {marks, marks});
  }
  if (trace.ranges.size() == 0 && trace.call_stacks.size() == 0) {
    add("ops", "op or NVTX ranges",
        {"run --level 3, which names them by call stacks, or NVTX ranges around the program's steps and layers (nvtxRangePush; in PyTorch "
         "torch.cuda.nvtx.range or torch.autograd.profiler.emit_nvtx)",
         "PyTorch: profile with ProfilerActivity.CPU"});
  }
}

}  // namespace

Report analyze(const profile::Trace& trace, const AnalyzeOptions& options) {
  require_plausible_times(trace);
  const DependencyGraph graph(trace);
  const RangeTree tree(trace);
  Report report;
  report.run = run_info(graph, options);
  report.quality = check_quality(graph);
  report.clock_bound_ns = trace.clock.bound_ns;
  report.steps = find_steps(
      graph, options.window.kind == WindowRequest::Kind::steps ? options.window.range : "");
  report.window = choose_window(graph, report.steps, options.window);
  const Timeline timeline = build_timeline(graph, report.window);
  report.lambda_ns = timeline.lambda_ns;
  report.Lambda_ns = timeline.Lambda_ns;
  for (const DeviceTimeline& d : timeline.devices) {
    report.devices.push_back(device_report(trace, d));
  }
  report.kernels = timeline.kernels;
  for (const KernelStatistics& k : report.kernels) {
    report.kernel_device_ids.push_back(trace.devices[k.device].ordinal);
  }
  report.ops = op_statistics(graph, tree, report.window);
  report.critical_path = find_critical_path(graph, tree, report.window, timeline);
  if (options.path) report.segments = name_segments(graph, report.critical_path);
  report.ranking = rank(graph, tree, report.window, report.steps, report.critical_path);
  report.serving = serving_of(trace, report.window, options.serving).value_or(Serving{});
  report.metrics = program_metrics(trace.meta);
  abstain(graph, options, report);
  report.path_calls = calls_on_path(graph, report.critical_path);
  report.verdict = judge(report);
  return report;
}

}  // namespace gprofml::analysis
