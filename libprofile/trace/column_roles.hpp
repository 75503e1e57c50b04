// Walks all columns of an event table together with what each column holds, so that code which
// treats every table alike (renumbering, sorting, appending, checking) names no column twice.
#pragma once

#include <cstddef>
#include <type_traits>
#include <vector>

#include "libprofile/trace/columns.hpp"

namespace gprofml::profile {

/// What the numbers of a column are: plain values, or references into another table.
enum class ColumnRole {
  value,
  string,
  stream,
  api_call,
  graph_node,
  range,
  launch_config,
  thread,
  device,
  kernel,
  process,
  stack_frame,
  counter_metric
};

namespace detail {

/// A table that gains a column must gain it below too: this stops the build until it has.
template <typename Columns, std::size_t kColumns>
inline constexpr bool kHasColumns = sizeof(Columns) == kColumns * sizeof(std::vector<int>);

static_assert(kHasColumns<ActivityColumns, 9>);
static_assert(kHasColumns<KernelColumns, 10>);
static_assert(kHasColumns<CopyColumns, 13>);
static_assert(kHasColumns<FillColumns, 11>);
static_assert(kHasColumns<ApiCallColumns, 7>);
static_assert(kHasColumns<GraphLaunchColumns, 10>);
static_assert(kHasColumns<RangeColumns, 9>);
static_assert(kHasColumns<SyncColumns, 10>);
static_assert(kHasColumns<CudaEventColumns, 5>);
static_assert(kHasColumns<OverheadColumns, 5>);
static_assert(kHasColumns<MemoryEventColumns, 13>);
static_assert(kHasColumns<MemoryPoolEventColumns, 8>);
static_assert(kHasColumns<MigrationColumns, 7>);
static_assert(kHasColumns<CollectiveColumns, 10>);
static_assert(kHasColumns<RangePayloadColumns, 3>);
static_assert(kHasColumns<CallStackColumns, 3>);
static_assert(kHasColumns<ModuleColumns, 5>);
static_assert(kHasColumns<GpuSampleColumns, 10>);
static_assert(kHasColumns<ThreadSampleColumns, 6>);
static_assert(kHasColumns<CounterSampleColumns, 5>);
static_assert(kHasColumns<WindowColumns, 4>);
static_assert(kHasColumns<CaptureEventColumns, 5>);
static_assert(kHasColumns<ClockPairColumns, 5>);

}  // namespace detail

/// Calls visit(column_name, column, role) for every column of `table` (any of the *Columns types,
/// const or not).
template <typename Table, typename Visit>
requires std::is_base_of_v<ActivityColumns, std::remove_const_t<Table>>
void visit_activity_columns(Table& table, Visit&& visit) {
  visit("start_ns", table.start_ns, ColumnRole::value);
  visit("end_ns", table.end_ns, ColumnRole::value);
  visit("name", table.name, ColumnRole::string);
  visit("stream", table.stream, ColumnRole::stream);
  visit("launch", table.launch, ColumnRole::api_call);
  visit("correlation", table.correlation, ColumnRole::value);
  visit("graph_node", table.graph_node, ColumnRole::graph_node);
  visit("op", table.op, ColumnRole::range);
  visit("sequence", table.sequence, ColumnRole::value);
}

/// What only a recording of our own holds.
template <typename Plain, typename Table, typename Visit>
void visit_recording_columns(Table& table, Visit&& visit) {
  if constexpr (std::is_same_v<Plain, MemoryPoolEventColumns>) {
    visit("time_ns", table.time_ns, ColumnRole::value);
    visit("process", table.process, ColumnRole::process);
    visit("device", table.device, ColumnRole::device);
    visit("operation", table.operation, ColumnRole::value);
    visit("pool", table.pool, ColumnRole::value);
    visit("bytes", table.bytes, ColumnRole::value);
    visit("used_bytes", table.used_bytes, ColumnRole::value);
    visit("release_threshold_bytes", table.release_threshold_bytes, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, MigrationColumns>) {
    visit("start_ns", table.start_ns, ColumnRole::value);
    visit("end_ns", table.end_ns, ColumnRole::value);
    visit("kind", table.kind, ColumnRole::value);
    visit("source_device", table.source_device, ColumnRole::device);
    visit("target_device", table.target_device, ColumnRole::device);
    visit("value", table.value, ColumnRole::value);
    visit("address", table.address, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, RangePayloadColumns>) {
    visit("range", table.range, ColumnRole::range);
    visit("key", table.key, ColumnRole::string);
    visit("value", table.value, ColumnRole::string);
  } else if constexpr (std::is_same_v<Plain, CallStackColumns>) {
    visit("call", table.call, ColumnRole::api_call);
    visit("graph_node", table.graph_node, ColumnRole::graph_node);
    visit("frame", table.frame, ColumnRole::stack_frame);
  } else if constexpr (std::is_same_v<Plain, ModuleColumns>) {
    visit("process", table.process, ColumnRole::process);
    visit("path", table.path, ColumnRole::string);
    visit("build_id", table.build_id, ColumnRole::string);
    visit("base", table.base, ColumnRole::value);
    visit("bytes", table.bytes, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, GpuSampleColumns>) {
    visit("time_ns", table.time_ns, ColumnRole::value);
    visit("device", table.device, ColumnRole::device);
    visit("sm_clock_mhz", table.sm_clock_mhz, ColumnRole::value);
    visit("memory_clock_mhz", table.memory_clock_mhz, ColumnRole::value);
    visit("power_mw", table.power_mw, ColumnRole::value);
    visit("temperature_c", table.temperature_c, ColumnRole::value);
    visit("throttle_reasons", table.throttle_reasons, ColumnRole::value);
    visit("memory_used_bytes", table.memory_used_bytes, ColumnRole::value);
    visit("busy_percent", table.busy_percent, ColumnRole::value);
    visit("foreign_processes", table.foreign_processes, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, ThreadSampleColumns>) {
    visit("time_ns", table.time_ns, ColumnRole::value);
    visit("thread", table.thread, ColumnRole::thread);
    visit("on_cpu_ns", table.on_cpu_ns, ColumnRole::value);
    visit("runnable_ns", table.runnable_ns, ColumnRole::value);
    visit("timeslices", table.timeslices, ColumnRole::value);
    visit("last_cpu", table.last_cpu, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, CounterSampleColumns>) {
    visit("time_ns", table.time_ns, ColumnRole::value);
    visit("metric", table.metric, ColumnRole::counter_metric);
    visit("device", table.device, ColumnRole::device);
    visit("process", table.process, ColumnRole::process);
    visit("value", table.value, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, WindowColumns>) {
    visit("start_ns", table.start_ns, ColumnRole::value);
    visit("end_ns", table.end_ns, ColumnRole::value);
    visit("process", table.process, ColumnRole::process);
    visit("reason", table.reason, ColumnRole::string);
  } else if constexpr (std::is_same_v<Plain, CaptureEventColumns>) {
    visit("time_ns", table.time_ns, ColumnRole::value);
    visit("process", table.process, ColumnRole::process);
    visit("kind", table.kind, ColumnRole::string);
    visit("detail", table.detail, ColumnRole::string);
    visit("value", table.value, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, ClockPairColumns>) {
    visit("process", table.process, ColumnRole::process);
    visit("realtime_ns", table.realtime_ns, ColumnRole::value);
    visit("monotonic_ns", table.monotonic_ns, ColumnRole::value);
    visit("cupti_ns", table.cupti_ns, ColumnRole::value);
    visit("uncertainty_ns", table.uncertainty_ns, ColumnRole::value);
  }
}

template <typename Table, typename Visit>
void visit_columns(Table& table, Visit&& visit) {
  using Plain = std::remove_const_t<Table>;
  if constexpr (std::is_base_of_v<ActivityColumns, Plain>) visit_activity_columns(table, visit);
  if constexpr (std::is_same_v<Plain, KernelColumns>) {
    visit("launch_config", table.launch_config, ColumnRole::launch_config);
  } else if constexpr (std::is_same_v<Plain, CopyColumns>) {
    visit("bytes", table.bytes, ColumnRole::value);
    visit("kind", table.kind, ColumnRole::value);
    visit("source_memory", table.source_memory, ColumnRole::value);
    visit("target_memory", table.target_memory, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, FillColumns>) {
    visit("bytes", table.bytes, ColumnRole::value);
    visit("memory", table.memory, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, GraphLaunchColumns>) {
    visit("graph_id", table.graph_id, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, ApiCallColumns>) {
    visit("start_ns", table.start_ns, ColumnRole::value);
    visit("end_ns", table.end_ns, ColumnRole::value);
    visit("name", table.name, ColumnRole::string);
    visit("thread", table.thread, ColumnRole::thread);
    visit("correlation", table.correlation, ColumnRole::value);
    visit("kind", table.kind, ColumnRole::value);
    visit("result", table.result, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, RangeColumns>) {
    visit("start_ns", table.start_ns, ColumnRole::value);
    visit("end_ns", table.end_ns, ColumnRole::value);
    visit("name", table.name, ColumnRole::string);
    visit("thread", table.thread, ColumnRole::thread);
    visit("kind", table.kind, ColumnRole::value);
    visit("domain", table.domain, ColumnRole::string);
    visit("external_id", table.external_id, ColumnRole::value);
    visit("category", table.category, ColumnRole::string);
    visit("color", table.color, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, SyncColumns>) {
    visit("start_ns", table.start_ns, ColumnRole::value);
    visit("end_ns", table.end_ns, ColumnRole::value);
    visit("kind", table.kind, ColumnRole::value);
    visit("device", table.device, ColumnRole::device);
    visit("stream", table.stream, ColumnRole::stream);
    visit("event_stream", table.event_stream, ColumnRole::stream);
    visit("event_record", table.event_record, ColumnRole::api_call);
    visit("call", table.call, ColumnRole::api_call);
    visit("correlation", table.correlation, ColumnRole::value);
    visit("event_id", table.event_id, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, CudaEventColumns>) {
    visit("event_id", table.event_id, ColumnRole::value);
    visit("stream", table.stream, ColumnRole::stream);
    visit("call", table.call, ColumnRole::api_call);
    visit("correlation", table.correlation, ColumnRole::value);
    visit("time_ns", table.time_ns, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, OverheadColumns>) {
    visit("start_ns", table.start_ns, ColumnRole::value);
    visit("end_ns", table.end_ns, ColumnRole::value);
    visit("kind", table.kind, ColumnRole::string);
    visit("process", table.process, ColumnRole::process);
    visit("thread", table.thread, ColumnRole::thread);
  } else if constexpr (std::is_same_v<Plain, MemoryEventColumns>) {
    visit("time_ns", table.time_ns, ColumnRole::value);
    visit("thread", table.thread, ColumnRole::thread);
    visit("device", table.device, ColumnRole::device);
    visit("bytes", table.bytes, ColumnRole::value);
    visit("address", table.address, ColumnRole::value);
    visit("total_allocated", table.total_allocated, ColumnRole::value);
    visit("total_reserved", table.total_reserved, ColumnRole::value);
    visit("memory", table.memory, ColumnRole::value);
    visit("stream", table.stream, ColumnRole::stream);
    visit("call", table.call, ColumnRole::api_call);
    visit("pool", table.pool, ColumnRole::value);
    visit("source", table.source, ColumnRole::string);
    visit("correlation", table.correlation, ColumnRole::value);
  } else if constexpr (std::is_same_v<Plain, CollectiveColumns>) {
    visit("kernel", table.kernel, ColumnRole::kernel);
    visit("range", table.range, ColumnRole::range);
    visit("communicator", table.communicator, ColumnRole::string);
    visit("operation", table.operation, ColumnRole::string);
    visit("dtype", table.dtype, ColumnRole::string);
    visit("elements_in", table.elements_in, ColumnRole::value);
    visit("elements_out", table.elements_out, ColumnRole::value);
    visit("bytes", table.bytes, ColumnRole::value);
    visit("group_size", table.group_size, ColumnRole::value);
    visit("ranks", table.ranks, ColumnRole::string);
  } else {
    visit_recording_columns<Plain>(table, visit);
  }
}

/// Calls visit(table_name, table) for every event table of a Trace, always in the same order.
template <typename AnyTrace, typename Visit>
void visit_event_tables(AnyTrace& trace, Visit&& visit) {
  visit("kernels", trace.kernels);
  visit("copies", trace.copies);
  visit("fills", trace.fills);
  visit("graph_launches", trace.graph_launches);
  visit("api_calls", trace.api_calls);
  visit("ranges", trace.ranges);
  visit("syncs", trace.syncs);
  visit("cuda_events", trace.cuda_events);
  visit("overheads", trace.overheads);
  visit("memory_events", trace.memory_events);
  visit("memory_pool_events", trace.memory_pool_events);
  visit("migrations", trace.migrations);
  visit("collectives", trace.collectives);
  visit("range_payloads", trace.range_payloads);
  visit("call_stacks", trace.call_stacks);
  visit("modules", trace.modules);
  visit("gpu_samples", trace.gpu_samples);
  visit("thread_samples", trace.thread_samples);
  visit("counter_samples", trace.counter_samples);
  visit("windows", trace.windows);
  visit("capture_events", trace.capture_events);
  visit("clock_pairs", trace.clock_pairs);
}

}  // namespace gprofml::profile
