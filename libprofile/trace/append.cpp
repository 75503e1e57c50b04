// Joins traces of several processes or files: every reference of the appended one is shifted or
// looked up, devices meet by identity.
#include <algorithm>
#include <map>
#include <tuple>

#include "libprofile/trace/column_roles.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {
namespace {

/// New row (or string id) of each row of the appended trace.
struct Renumbering {
  std::vector<StringId> string;
  RowIndex process = 0, thread = 0, context = 0, stream = 0, launch_config = 0, graph_node = 0;
  RowIndex api_call = 0, range = 0, kernel = 0, stack_frame = 0, counter_metric = 0;  // offsets
  std::vector<RowIndex> device;
};

RowIndex shifted(RowIndex row, RowIndex offset) {
  return row == kNoRow ? kNoRow : row + offset;
}

RowIndex size_of(std::size_t size) {
  return static_cast<RowIndex>(size);
}

// UUID, else host and PCI bus; nothing else makes two devices one.
using Identity = std::tuple<std::string, std::string, std::string>;

std::optional<Identity> identity_of(const Trace& trace, const Device& device) {
  if (device.uuid != 0) return Identity(trace.text(device.uuid), "", "");
  if (device.pci_bus != 0 && device.host != 0)
    return Identity("", trace.text(device.host), trace.text(device.pci_bus));
  return std::nullopt;
}

// What one process knew of the device and the other did not is filled in.
void complete(Device& known, const Device& other) {
  const auto fill = [](auto& mine, auto theirs, auto none) {
    if (mine == none) mine = theirs;
  };
  fill(known.ordinal, other.ordinal, kUnknown);
  fill(known.pci_bus, other.pci_bus, StringId{0});
  fill(known.host, other.host, StringId{0});
  fill(known.name, other.name, StringId{0});
  fill(known.memory_bytes, other.memory_bytes, kUnknown);
  fill(known.multiprocessors, other.multiprocessors, kUnknown);
  fill(known.compute_major, other.compute_major, kUnknown);
  fill(known.compute_minor, other.compute_minor, kUnknown);
}

void append_devices(Trace& trace, const Trace& other, Renumbering& to) {
  std::map<Identity, RowIndex> known;
  for (RowIndex row = 0; row < trace.devices.size(); ++row)
    if (const auto identity = identity_of(trace, trace.devices[row])) known.emplace(*identity, row);
  for (const Device& theirs : other.devices) {
    Device device = theirs;
    device.process = shifted(device.process, to.process);
    for (StringId Device::*id : {&Device::uuid, &Device::pci_bus, &Device::host, &Device::name})
      device.*id = to.string[device.*id];
    RowIndex row = size_of(trace.devices.size());
    if (const auto identity = identity_of(other, theirs)) {
      const auto [found, is_new] = known.emplace(*identity, row);
      if (!is_new) {
        row = found->second;
        complete(trace.devices[row], device);
        // A device that two processes use belongs to neither.
        if (trace.devices[row].process != device.process) trace.devices[row].process = kNoRow;
      }
    }
    if (row == trace.devices.size()) trace.devices.push_back(device);
    to.device.push_back(row);
  }
}

void append_dimensions(Trace& trace, const Trace& other, Renumbering& to) {
  for (Process process : other.processes) {
    for (StringId Process::*id : {&Process::host, &Process::source, &Process::command})
      process.*id = to.string[process.*id];
    trace.processes.push_back(process);
  }
  for (Thread thread : other.threads) {
    thread.process = shifted(thread.process, to.process);
    thread.name = to.string[thread.name];
    trace.threads.push_back(thread);
  }
  append_devices(trace, other, to);
  for (Context context : other.contexts) {
    context.process = shifted(context.process, to.process);
    context.device = to.device[context.device];
    trace.contexts.push_back(context);
  }
  for (Stream stream : other.streams) {
    stream.context = shifted(stream.context, to.context);
    trace.streams.push_back(stream);
  }
  trace.launch_configs.insert(trace.launch_configs.end(), other.launch_configs.begin(),
                              other.launch_configs.end());
  for (GraphNode node : other.graph_nodes) {
    node.process = shifted(node.process, to.process);
    node.type = to.string[node.type];
    node.op = shifted(node.op, to.range);
    node.call = shifted(node.call, to.api_call);
    trace.graph_nodes.push_back(node);
  }
  for (const GraphEdge& edge : other.graph_edges)
    trace.graph_edges.push_back({edge.source + to.graph_node, edge.target + to.graph_node});
  for (StackFrame frame : other.stack_frames) {
    frame.parent = shifted(frame.parent, to.stack_frame);
    frame.function = to.string[frame.function];
    frame.module = to.string[frame.module];
    trace.stack_frames.push_back(frame);
  }
  for (CounterMetric metric : other.counter_metrics) {
    for (StringId CounterMetric::*id :
         {&CounterMetric::name, &CounterMetric::unit, &CounterMetric::description})
      metric.*id = to.string[metric.*id];
    trace.counter_metrics.push_back(metric);
  }
  for (QualityNote note : other.quality) {
    note.process = shifted(note.process, to.process);
    note.code = to.string[note.code];
    note.detail = to.string[note.detail];
    trace.quality.push_back(note);
  }
}

RowIndex renumbered(const Renumbering& to, ColumnRole role, RowIndex row) {
  if (role == ColumnRole::string) return to.string[row];
  if (row == kNoRow) return kNoRow;
  switch (role) {
    case ColumnRole::stream:
      return row + to.stream;
    case ColumnRole::api_call:
      return row + to.api_call;
    case ColumnRole::graph_node:
      return row + to.graph_node;
    case ColumnRole::range:
      return row + to.range;
    case ColumnRole::launch_config:
      return row + to.launch_config;
    case ColumnRole::thread:
      return row + to.thread;
    case ColumnRole::device:
      return to.device[row];
    case ColumnRole::kernel:
      return row + to.kernel;
    case ColumnRole::process:
      return row + to.process;
    case ColumnRole::stack_frame:
      return row + to.stack_frame;
    case ColumnRole::counter_metric:
      return row + to.counter_metric;
    default:
      return row;
  }
}

// Both traces hold the same table type, so the columns come in the same order twice.
template <typename Table>
void append_table(Table& table, Table rows, const Renumbering& to) {
  std::vector<void*> targets;
  visit_columns(table, [&](const char*, auto& column, ColumnRole) { targets.push_back(&column); });
  std::size_t next = 0;
  visit_columns(rows, [&](const char*, auto& column, ColumnRole role) {
    using Column = std::decay_t<decltype(column)>;
    if constexpr (std::is_same_v<Column, std::vector<RowIndex>>) {
      for (RowIndex& value : column) value = renumbered(to, role, value);
    }
    auto& target = *static_cast<Column*>(targets[next++]);
    target.insert(target.end(), column.begin(), column.end());
  });
}

// Settings of the first trace stay; what it does not say is taken over.
void append_meta(Trace& trace, const Trace& other) {
  for (const auto& [key, value] : other.meta) trace.meta.emplace(key, value);
}

// The joint bound is the weaker one; unknown stays unknown.
void append_clock(Trace& trace, const Trace& other, bool was_empty) {
  if (was_empty) {
    trace.clock = other.clock;
  } else if (trace.clock.bound_ns == kUnknown || other.clock.bound_ns == kUnknown) {
    trace.clock.bound_ns = kUnknown;
  } else {
    trace.clock.bound_ns = std::max(trace.clock.bound_ns, other.clock.bound_ns);
  }
}

}  // namespace

void append(Trace& trace, const Trace& other) {
  const bool was_empty = trace.processes.empty();
  Renumbering to;
  to.process = size_of(trace.processes.size());
  to.thread = size_of(trace.threads.size());
  to.context = size_of(trace.contexts.size());
  to.stream = size_of(trace.streams.size());
  to.launch_config = size_of(trace.launch_configs.size());
  to.graph_node = size_of(trace.graph_nodes.size());
  to.api_call = size_of(trace.api_calls.size());
  to.range = size_of(trace.ranges.size());
  to.kernel = size_of(trace.kernels.size());
  to.stack_frame = size_of(trace.stack_frames.size());
  to.counter_metric = size_of(trace.counter_metrics.size());
  for (StringId id = 0; id < other.strings.size(); ++id)
    to.string.push_back(trace.intern(other.text(id)));
  append_meta(trace, other);
  append_clock(trace, other, was_empty);
  append_dimensions(trace, other, to);
  // Both traces are walked in the same order.
  std::vector<const void*> tables;
  visit_event_tables(other, [&](const char*, const auto& table) { tables.push_back(&table); });
  std::size_t next = 0;
  visit_event_tables(trace, [&](const char*, auto& table) {
    using Table = std::decay_t<decltype(table)>;
    append_table(table, *static_cast<const Table*>(tables[next++]), to);
  });
}

}  // namespace gprofml::profile
