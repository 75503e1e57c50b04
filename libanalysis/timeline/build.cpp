#include "libanalysis/timeline/build.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "libanalysis/timeline/idle_causes.hpp"
#include "libanalysis/timeline/interval_union.hpp"

namespace gprofml::analysis {

using profile::Nanoseconds;
using profile::RowIndex;

namespace {

using DeviceWork = std::vector<ActivityIndex>;

std::vector<DeviceWork> work_by_device(const DependencyGraph& graph) {
  std::vector<DeviceWork> by_device(graph.trace.devices.size());
  for (ActivityIndex i = 0; i < graph.work.size(); ++i)
    by_device[graph.work.device[i]].push_back(i);
  return by_device;
}

struct Span {
  Nanoseconds from;
  Nanoseconds to;
};

Span work_span(const Activities& work, const DeviceWork& indices) {
  Span span{work.start_ns[indices.front()], work.end_ns[indices.front()]};
  for (const ActivityIndex i : indices) span.to = std::max(span.to, work.end_ns[i]);
  return span;
}

bool overlaps(const Activities& work, ActivityIndex i, const Window& window) {
  const Nanoseconds start = work.start_ns[i];
  const bool ends_inside = work.end_ns[i] > window.from_ns || start == window.from_ns;
  return window.is_whole() || (start < window.to_ns && ends_inside);
}

void count(const Activities& work, ActivityIndex i, DeviceTimeline& d) {
  const Nanoseconds duration = work.end_ns[i] - work.start_ns[i];
  switch (work.kind[i]) {
    case WorkKind::kernel:
    case WorkKind::communication:
      ++d.kernels;
      d.kernel_ns += duration;
      break;
    case WorkKind::copy:
      ++d.copies;
      d.copy_ns += duration;
      break;
    case WorkKind::fill:
      ++d.fills;
      d.fill_ns += duration;
      break;
    case WorkKind::cuda_graph:
      ++d.graph_launches;
      d.graph_ns += duration;
      break;
  }
}

void measure_unions(const Activities& work, const DeviceWork& indices, Span span,
                    DeviceTimeline& d) {
  IntervalUnion all, corrected, kernels, memory, communication, compute;
  for (const ActivityIndex i : indices) {
    const Nanoseconds start = std::max(work.start_ns[i], span.from);
    const Nanoseconds end = std::min(work.end_ns[i], span.to);
    all.add(start, end);
    corrected.add(start, std::min(work.corrected_end_ns[i], span.to));
    const WorkKind kind = work.kind[i];
    // A graph as a whole does not say of what it is made: of kernels, as a rule.
    const bool kernel = kind != WorkKind::copy && kind != WorkKind::fill;
    (kernel ? kernels : memory).add(start, end);
    if (kernel) (kind == WorkKind::communication ? communication : compute).add(start, end);
  }
  d.busy_ns = all.length_ns();
  d.busy_corrected_ns = corrected.length_ns();
  d.kernel_union_ns = kernels.length_ns();
  d.memory_union_ns = memory.length_ns();
  d.communication_union_ns = communication.length_ns();
  d.compute_ns = compute.length_ns();
  d.communication_exposed_ns = d.kernel_union_ns - d.compute_ns;
  d.copy_exposed_ns = d.busy_ns - d.kernel_union_ns;
  d.span_ns = span.to - span.from;
  d.idle_ns = d.span_ns - d.busy_ns;
}

void explain_idle(const DependencyGraph& graph, const DeviceWork& indices, Span span, Span active,
                  DeviceTimeline& d) {
  const auto add = [&](TimeClass cause, Nanoseconds start, Nanoseconds end) {
    start = std::max(start, span.from);
    end = std::min(end, span.to);
    if (start < end) d.idle_by_cause[static_cast<std::size_t>(cause)] += end - start;
  };
  add(TimeClass::before_first, span.from, std::min(active.from, span.to));
  find_idle_causes(graph, indices, [&](const IdlePiece& p) { add(p.cause, p.start_ns, p.end_ns); });
  add(TimeClass::after_last, std::max(active.to, span.from), span.to);
}

std::vector<KernelStatistics> kernel_statistics(const DependencyGraph& graph,
                                                const Window& window) {
  std::map<std::pair<profile::StringId, RowIndex>, KernelStatistics> by_name;
  const Activities& work = graph.work;
  for (ActivityIndex i = 0; i < work.size(); ++i) {
    if (work.kind[i] == WorkKind::copy || work.kind[i] == WorkKind::fill) continue;
    if (!overlaps(work, i, window)) continue;
    const Nanoseconds duration = work.end_ns[i] - work.start_ns[i];
    KernelStatistics& k = by_name[{work.columns(graph.trace, i).name[work.row[i]], work.device[i]}];
    k.min_ns = k.count == 0 ? duration : std::min(k.min_ns, duration);
    k.max_ns = k.count == 0 ? duration : std::max(k.max_ns, duration);
    ++k.count;
    k.total_ns += duration;
  }
  std::vector<KernelStatistics> table;
  for (auto& [key, k] : by_name) {
    k.name = graph.trace.text(key.first);
    k.device = key.second;
    table.push_back(std::move(k));
  }
  std::sort(table.begin(), table.end(), [](const KernelStatistics& a, const KernelStatistics& b) {
    return std::tuple(-a.total_ns, std::string_view(a.name), a.device) <
           std::tuple(-b.total_ns, std::string_view(b.name), b.device);
  });
  return table;
}

}  // namespace

Timeline build_timeline(const DependencyGraph& graph, const Window& window) {
  Timeline timeline;
  timeline.lambda_ns = graph.latency.lambda_ns;
  timeline.Lambda_ns = graph.latency.Lambda_ns;
  const std::vector<DeviceWork> by_device = work_by_device(graph);
  for (RowIndex device = 0; device < by_device.size(); ++device) {
    const DeviceWork& indices = by_device[device];
    if (indices.empty()) continue;
    DeviceTimeline d;
    d.device = device;
    const Span active = work_span(graph.work, indices);
    const Span span = window.is_whole() ? active : Span{window.from_ns, window.to_ns};
    for (const ActivityIndex i : indices) {
      if (overlaps(graph.work, i, window)) count(graph.work, i, d);
    }
    measure_unions(graph.work, indices, span, d);
    explain_idle(graph, indices, span, active, d);
    timeline.devices.push_back(d);
  }
  timeline.kernels = kernel_statistics(graph, window);
  return timeline;
}

}  // namespace gprofml::analysis
