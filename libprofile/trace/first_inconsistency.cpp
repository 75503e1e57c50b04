// The invariants of a Trace, checked from the dimension tables outwards: a check may rely on what
// the checks before it have proven.
#include <fmt/format.h>

#include <algorithm>

#include "libprofile/trace/column_roles.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {
namespace {

using Finding = std::optional<std::string>;

std::string bad_reference(std::string_view table, std::size_t row, std::string_view column,
                          std::size_t value, std::size_t size) {
  return fmt::format("{} row {}: {} refers to row {} of {}", table, row, column, value, size);
}

bool valid(RowIndex row, std::size_t size) {
  return row < size;
}
bool valid_or_none(RowIndex row, std::size_t size) {
  return row == kNoRow || row < size;
}

Finding check_dimensions(const Trace& trace) {
  const std::size_t strings = trace.strings.size();
  const auto check = [&](std::string_view table, std::size_t row, std::string_view column,
                         std::size_t value, std::size_t size, bool may_be_none) -> Finding {
    if (value < size || (may_be_none && value == kNoRow)) return std::nullopt;
    return bad_reference(table, row, column, value, size);
  };
  for (std::size_t i = 0; i < trace.processes.size(); ++i) {
    const Process& process = trace.processes[i];
    for (const StringId id : {process.host, process.source, process.command})
      if (auto bad = check("processes", i, "a string", id, strings, false)) return bad;
  }
  for (std::size_t i = 0; i < trace.threads.size(); ++i) {
    const Thread& thread = trace.threads[i];
    if (auto bad = check("threads", i, "process", thread.process, trace.processes.size(), false))
      return bad;
    if (auto bad = check("threads", i, "name", thread.name, strings, false)) return bad;
  }
  for (std::size_t i = 0; i < trace.devices.size(); ++i) {
    const Device& device = trace.devices[i];
    if (auto bad = check("devices", i, "process", device.process, trace.processes.size(), true))
      return bad;
    for (const StringId id : {device.uuid, device.pci_bus, device.host, device.name})
      if (auto bad = check("devices", i, "a string", id, strings, false)) return bad;
  }
  for (std::size_t i = 0; i < trace.contexts.size(); ++i) {
    const Context& context = trace.contexts[i];
    if (auto bad = check("contexts", i, "process", context.process, trace.processes.size(), false))
      return bad;
    if (auto bad = check("contexts", i, "device", context.device, trace.devices.size(), false))
      return bad;
  }
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    if (auto bad =
            check("streams", i, "context", trace.streams[i].context, trace.contexts.size(), false))
      return bad;
  for (std::size_t i = 0; i < trace.graph_nodes.size(); ++i)
    if (auto bad = check("graph_nodes", i, "process", trace.graph_nodes[i].process,
                         trace.processes.size(), true))
      return bad;
  for (std::size_t i = 0; i < trace.graph_nodes.size(); ++i) {
    const GraphNode& node = trace.graph_nodes[i];
    if (auto bad = check("graph_nodes", i, "type", node.type, strings, false)) return bad;
    if (auto bad = check("graph_nodes", i, "op", node.op, trace.ranges.size(), true)) return bad;
    if (auto bad = check("graph_nodes", i, "call", node.call, trace.api_calls.size(), true))
      return bad;
  }
  for (std::size_t i = 0; i < trace.graph_edges.size(); ++i)
    for (const RowIndex node : {trace.graph_edges[i].source, trace.graph_edges[i].target})
      if (auto bad = check("graph_edges", i, "a node", node, trace.graph_nodes.size(), false))
        return bad;
  for (std::size_t i = 0; i < trace.stack_frames.size(); ++i) {
    const StackFrame& frame = trace.stack_frames[i];
    // Frames stand behind their parents, which also rules out circles.
    if (auto bad = check("stack_frames", i, "parent", frame.parent, i, true)) return bad;
    for (const StringId id : {frame.function, frame.module})
      if (auto bad = check("stack_frames", i, "a string", id, strings, false)) return bad;
  }
  for (std::size_t i = 0; i < trace.counter_metrics.size(); ++i) {
    const CounterMetric& metric = trace.counter_metrics[i];
    for (const StringId id : {metric.name, metric.unit, metric.description})
      if (auto bad = check("counter_metrics", i, "a string", id, strings, false)) return bad;
  }
  for (std::size_t i = 0; i < trace.quality.size(); ++i) {
    const QualityNote& note = trace.quality[i];
    if (auto bad = check("quality", i, "process", note.process, trace.processes.size(), true))
      return bad;
    for (const StringId id : {note.code, note.detail})
      if (auto bad = check("quality", i, "a string", id, strings, false)) return bad;
  }
  return std::nullopt;
}

std::size_t referred_size(const Trace& trace, ColumnRole role) {
  switch (role) {
    case ColumnRole::string:
      return trace.strings.size();
    case ColumnRole::stream:
      return trace.streams.size();
    case ColumnRole::api_call:
      return trace.api_calls.size();
    case ColumnRole::graph_node:
      return trace.graph_nodes.size();
    case ColumnRole::range:
      return trace.ranges.size();
    case ColumnRole::launch_config:
      return trace.launch_configs.size();
    case ColumnRole::thread:
      return trace.threads.size();
    case ColumnRole::device:
      return trace.devices.size();
    case ColumnRole::kernel:
      return trace.kernels.size();
    case ColumnRole::process:
      return trace.processes.size();
    case ColumnRole::stack_frame:
      return trace.stack_frames.size();
    case ColumnRole::counter_metric:
      return trace.counter_metrics.size();
    case ColumnRole::value:
      return 0;
  }
  return 0;
}

template <typename Table>
bool always_valid(ColumnRole role) {
  switch (role) {
    case ColumnRole::string:
    case ColumnRole::stack_frame:
    case ColumnRole::counter_metric:
      return true;
    case ColumnRole::range:
      return std::is_same_v<Table, RangePayloadColumns>;
    case ColumnRole::process:
      return std::is_same_v<Table, ModuleColumns> || std::is_same_v<Table, WindowColumns> ||
             std::is_same_v<Table, ClockPairColumns>;
    case ColumnRole::device:
      return std::is_same_v<Table, GpuSampleColumns>;
    case ColumnRole::thread:
      return !std::is_same_v<Table, OverheadColumns> && !std::is_same_v<Table, MemoryEventColumns>;
    case ColumnRole::stream:
      return std::is_base_of_v<ActivityColumns, Table> || std::is_same_v<Table, CudaEventColumns>;
    default:
      return false;
  }
}

template <typename Table>
Finding check_lengths(std::string_view name, const Table& table) {
  Finding finding;
  visit_columns(table, [&](std::string_view column, const auto& values, ColumnRole) {
    if (!finding && values.size() != table.size())
      finding = fmt::format("{}: column {} has {} rows, the table {}", name, column, values.size(),
                            table.size());
  });
  return finding;
}

template <typename Table>
Finding check_references(const Trace& trace, std::string_view name, const Table& table) {
  Finding finding;
  visit_columns(table, [&](std::string_view column, const auto& values, ColumnRole role) {
    using Value = typename std::decay_t<decltype(values)>::value_type;
    if constexpr (std::is_same_v<Value, RowIndex>) {
      if (finding || role == ColumnRole::value) return;
      const std::size_t size = referred_size(trace, role);
      const auto bad = std::find_if(values.begin(), values.end(), [&](RowIndex row) {
        return always_valid<Table>(role) ? !valid(row, size) : !valid_or_none(row, size);
      });
      if (bad != values.end())
        finding =
            bad_reference(name, static_cast<std::size_t>(bad - values.begin()), column, *bad, size);
    }
  });
  return finding;
}

template <typename Table>
Finding check_times(std::string_view name, const Table& table) {
  if constexpr (requires { table.end_ns; }) {
    for (std::size_t row = 0; row < table.size(); ++row)
      if (table.end_ns[row] < table.start_ns[row])
        return fmt::format("{} row {}: ends at {} before it starts at {}", name, row,
                           table.end_ns[row], table.start_ns[row]);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> first_inconsistency(const Trace& trace) {
  Finding finding = check_dimensions(trace);
  visit_event_tables(trace, [&](std::string_view name, const auto& table) {
    if (!finding) finding = check_lengths(name, table);
    if (!finding) finding = check_references(trace, name, table);
    if (!finding) finding = check_times(name, table);
  });
  return finding;
}

}  // namespace gprofml::profile
