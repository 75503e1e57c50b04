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
  process
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
static_assert(kHasColumns<RangeColumns, 7>);
static_assert(kHasColumns<SyncColumns, 10>);
static_assert(kHasColumns<CudaEventColumns, 5>);
static_assert(kHasColumns<OverheadColumns, 5>);
static_assert(kHasColumns<MemoryEventColumns, 7>);
static_assert(kHasColumns<CollectiveColumns, 8>);

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
  } else if constexpr (std::is_same_v<Plain, CollectiveColumns>) {
    visit("kernel", table.kernel, ColumnRole::kernel);
    visit("communicator", table.communicator, ColumnRole::string);
    visit("operation", table.operation, ColumnRole::string);
    visit("dtype", table.dtype, ColumnRole::string);
    visit("elements_in", table.elements_in, ColumnRole::value);
    visit("elements_out", table.elements_out, ColumnRole::value);
    visit("group_size", table.group_size, ColumnRole::value);
    visit("ranks", table.ranks, ColumnRole::string);
  }
}

/// Calls visit(table_name, table) for every event table of a Trace.
template <typename AnyTrace, typename Visit>
void visit_event_tables(AnyTrace& trace, Visit&& visit) {
  visit("kernels", trace.kernels);
  visit("copies", trace.copies);
  visit("fills", trace.fills);
  visit("api_calls", trace.api_calls);
  visit("ranges", trace.ranges);
  visit("syncs", trace.syncs);
  visit("cuda_events", trace.cuda_events);
  visit("overheads", trace.overheads);
  visit("memory_events", trace.memory_events);
  visit("collectives", trace.collectives);
}

}  // namespace gprofml::profile
