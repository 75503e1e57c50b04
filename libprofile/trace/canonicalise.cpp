// Canonical order. Strings first (ids then compare as texts do), then the dimension tables from
// the outside in, then the event tables (graph nodes, which name ranges and calls, after those);
// each step renumbers what refers to it, so the keys of the next step are already canonical.
#include <algorithm>
#include <numeric>
#include <tuple>

#include "libprofile/trace/column_roles.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {
namespace {

using Order = std::vector<RowIndex>;  // new row -> old row

void renumber(RowIndex& row, const Order& new_row) {
  if (row != kNoRow) row = new_row[row];
}

/// old row -> new row.
Order inverse(const Order& order) {
  Order result(order.size());
  for (RowIndex row = 0; row < order.size(); ++row) result[order[row]] = row;
  return result;
}

template <typename Less>
Order sorted_order(std::size_t size, const Less& less) {
  Order order(size);
  std::iota(order.begin(), order.end(), RowIndex{0});
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

/// Renumbers every column of every event table that plays `role`.
void renumber_events(Trace& trace, ColumnRole role, const Order& new_row) {
  visit_event_tables(trace, [&](const char*, auto& table) {
    visit_columns(table, [&](const char*, auto& column, ColumnRole column_role) {
      if constexpr (std::is_same_v<std::decay_t<decltype(column)>, std::vector<RowIndex>>) {
        if (column_role != role) return;
        for (RowIndex& row : column) renumber(row, new_row);
      }
    });
  });
}

template <typename Visit>
void visit_dimension_strings(Trace& trace, Visit&& visit) {
  for (Process& p : trace.processes) visit(p.host), visit(p.source), visit(p.command);
  for (Thread& t : trace.threads) visit(t.name);
  for (Device& d : trace.devices) visit(d.uuid), visit(d.pci_bus), visit(d.host), visit(d.name);
  for (GraphNode& n : trace.graph_nodes) visit(n.type);
  for (StackFrame& f : trace.stack_frames) visit(f.function), visit(f.module);
  for (CounterMetric& m : trace.counter_metrics) visit(m.name), visit(m.unit), visit(m.description);
  for (QualityNote& q : trace.quality) visit(q.code), visit(q.detail);
}

/// Strings nobody refers to are dropped, the rest is sorted; the empty string stays id 0.
void canonicalise_strings(Trace& trace) {
  std::vector<bool> used(trace.strings.size(), false);
  used[0] = true;
  visit_dimension_strings(trace, [&](StringId id) { used[id] = true; });
  visit_event_tables(trace, [&](const char*, auto& table) {
    visit_columns(table, [&](const char*, auto& column, ColumnRole role) {
      if constexpr (std::is_same_v<std::decay_t<decltype(column)>, std::vector<StringId>>) {
        if (role == ColumnRole::string)
          for (const StringId id : column) used[id] = true;
      }
    });
  });
  Order kept;
  for (StringId id = 0; id < used.size(); ++id)
    if (used[id]) kept.push_back(id);
  std::sort(kept.begin(), kept.end(),
            [&](StringId a, StringId b) { return trace.text(a) < trace.text(b); });
  StringTable sorted;
  Order new_id(used.size(), 0);
  for (const StringId id : kept) new_id[id] = sorted.intern(trace.text(id));
  trace.strings = std::move(sorted);
  visit_dimension_strings(trace, [&](StringId& id) { id = new_id[id]; });
  renumber_events(trace, ColumnRole::string, new_id);
}

/// Sorts a dimension table by `key` of its rows and returns old row -> new row.
template <typename Row, typename Key>
Order sort_rows(std::vector<Row>& rows, const Key& key) {
  const Order order = sorted_order(
      rows.size(), [&](RowIndex a, RowIndex b) { return key(rows[a]) < key(rows[b]); });
  std::vector<Row> sorted;
  sorted.reserve(rows.size());
  for (const RowIndex row : order) sorted.push_back(rows[row]);
  rows = std::move(sorted);
  return inverse(order);
}

/// The same for tables of values: equal rows become one.
template <typename Row>
Order sort_unique(std::vector<Row>& rows) {
  std::vector<Row> unique = rows;
  std::sort(unique.begin(), unique.end());
  unique.erase(std::unique(unique.begin(), unique.end()), unique.end());
  Order new_row;
  new_row.reserve(rows.size());
  for (const Row& row : rows)
    new_row.push_back(static_cast<RowIndex>(std::lower_bound(unique.begin(), unique.end(), row) -
                                            unique.begin()));
  rows = std::move(unique);
  return new_row;
}

void canonicalise_processes(Trace& trace) {
  const Order new_row = sort_rows(trace.processes, [](const Process& p) {
    return std::tuple(p.host, p.rank, p.pid, p.source, p.command);
  });
  for (Thread& thread : trace.threads) renumber(thread.process, new_row);
  for (Device& device : trace.devices) renumber(device.process, new_row);
  for (Context& context : trace.contexts) renumber(context.process, new_row);
  for (GraphNode& node : trace.graph_nodes) renumber(node.process, new_row);
  for (QualityNote& note : trace.quality) renumber(note.process, new_row);
  renumber_events(trace, ColumnRole::process, new_row);
}

/// Level by level from the outermost frames inwards: a frame's key names its parent's new row, so
/// equal stacks become one and a parent stands before what it called.
void canonicalise_stack_frames(Trace& trace) {
  std::vector<StackFrame>& frames = trace.stack_frames;
  Order level(frames.size(), 0);
  RowIndex deepest = 0;
  for (RowIndex row = 0; row < frames.size(); ++row) {
    const RowIndex parent = frames[row].parent;
    if (parent != kNoRow) level[row] = level[parent] + 1;  // a frame stands behind its parent
    deepest = std::max(deepest, level[row]);
  }
  std::vector<Order> rows_of(frames.empty() ? 0 : deepest + 1);
  for (RowIndex row = 0; row < frames.size(); ++row) rows_of[level[row]].push_back(row);
  Order new_row(frames.size(), kNoRow);
  std::vector<StackFrame> sorted;
  for (Order& rows : rows_of) {
    for (const RowIndex row : rows) renumber(frames[row].parent, new_row);
    std::sort(rows.begin(), rows.end(),
              [&](RowIndex a, RowIndex b) { return frames[a] < frames[b]; });
    for (const RowIndex row : rows) {
      if (sorted.empty() || !(sorted.back() == frames[row])) sorted.push_back(frames[row]);
      new_row[row] = static_cast<RowIndex>(sorted.size() - 1);
    }
  }
  frames = std::move(sorted);
  renumber_events(trace, ColumnRole::stack_frame, new_row);
}

void canonicalise_dimensions(Trace& trace) {
  canonicalise_processes(trace);
  renumber_events(trace, ColumnRole::thread, sort_rows(trace.threads, [](const Thread& t) {
                    return std::tuple(t.process, t.pid, t.tid, t.name);
                  }));
  const Order devices = sort_rows(trace.devices, [](const Device& d) {
    return std::tuple(d.host, d.process, d.ordinal, d.uuid, d.pci_bus, d.name, d.memory_bytes);
  });
  renumber_events(trace, ColumnRole::device, devices);
  for (Context& context : trace.contexts) renumber(context.device, devices);
  const Order contexts = sort_rows(
      trace.contexts, [](const Context& c) { return std::tuple(c.process, c.device, c.id); });
  for (Stream& stream : trace.streams) renumber(stream.context, contexts);
  renumber_events(trace, ColumnRole::stream, sort_rows(trace.streams, [](const Stream& s) {
                    return std::tuple(s.context, s.id);
                  }));
  renumber_events(trace, ColumnRole::launch_config, sort_unique(trace.launch_configs));
  renumber_events(trace, ColumnRole::counter_metric, sort_unique(trace.counter_metrics));
  canonicalise_stack_frames(trace);
  sort_rows(trace.quality,
            [](const QualityNote& q) { return std::tuple(q.process, q.code, q.detail, q.count); });
}

/// Sorting pairs of (time, row) keeps the common comparison inside the array; the columns are only
/// read where two times are equal.
template <typename Table, typename Ties>
Order event_order(const Table& table, const std::vector<Nanoseconds>& time_ns, const Ties& ties) {
  struct Entry {
    Nanoseconds time_ns;
    RowIndex row;
  };
  const auto follows = [&](RowIndex row) {
    return time_ns[row - 1] < time_ns[row] ||
           (time_ns[row - 1] == time_ns[row] && !(ties(row) < ties(row - 1)));
  };
  RowIndex sorted = 1;  // what one thread recorded is in order as a rule
  while (sorted < table.size() && follows(sorted)) ++sorted;
  if (sorted >= table.size()) {
    Order order(table.size());
    std::iota(order.begin(), order.end(), RowIndex{0});
    return order;
  }
  std::vector<Entry> entries(table.size());
  for (RowIndex row = 0; row < table.size(); ++row) entries[row] = {time_ns[row], row};
  const auto less = [&](const Entry& a, const Entry& b) {
    if (a.time_ns != b.time_ns) return a.time_ns < b.time_ns;
    const auto key_a = ties(a.row);
    const auto key_b = ties(b.row);
    return key_a != key_b ? key_a < key_b : a.row < b.row;
  };
  std::sort(entries.begin(), entries.end(), less);
  Order order(entries.size());
  for (RowIndex row = 0; row < order.size(); ++row) order[row] = entries[row].row;
  return order;
}

/// Gathers each column into the memory that the one before it left, for fresh memory costs more
/// than the gathering.
template <typename Table>
void reorder(Table& table, const Order& order) {
  std::tuple<std::vector<Nanoseconds>, std::vector<RowIndex>> spare;
  visit_columns(table, [&](const char*, auto& column, ColumnRole) {
    using Column = std::decay_t<decltype(column)>;
    Column fresh;
    Column* sorted = &fresh;
    if constexpr (std::is_same_v<Column, std::vector<Nanoseconds>> ||
                  std::is_same_v<Column, std::vector<RowIndex>>)
      sorted = &std::get<Column>(spare);
    sorted->resize(column.size());
    for (std::size_t row = 0; row < order.size(); ++row) (*sorted)[row] = column[order[row]];
    column.swap(*sorted);
  });
}

template <typename Table, typename Ties>
Order sort_events(Table& table, const std::vector<Nanoseconds>& time_ns, const Ties& ties) {
  const Order order = event_order(table, time_ns, ties);
  const bool in_order = std::is_sorted(order.begin(), order.end());
  if (!in_order) reorder(table, order);
  return in_order ? order : inverse(order);
}

template <typename Table>
Order sort_activities(Table& table) {
  return sort_events(table, table.start_ns, [&](RowIndex row) {
    return std::tuple(table.end_ns[row], table.stream[row], table.name[row], table.correlation[row],
                      table.graph_node[row], table.sequence[row]);
  });
}

void canonicalise_host_events(Trace& trace) {
  ApiCallColumns& calls = trace.api_calls;
  const Order new_call = sort_events(calls, calls.start_ns, [&](RowIndex r) {
    return std::tuple(~calls.end_ns[r], calls.thread[r], calls.correlation[r], calls.name[r],
                      calls.kind[r], calls.result[r]);
  });
  renumber_events(trace, ColumnRole::api_call, new_call);
  RangeColumns& ranges = trace.ranges;
  const Order new_range = sort_events(ranges, ranges.start_ns, [&](RowIndex r) {
    return std::tuple(~ranges.end_ns[r], ranges.thread[r], ranges.kind[r], ranges.name[r],
                      ranges.external_id[r], ranges.domain[r], ranges.category[r], ranges.color[r]);
  });
  renumber_events(trace, ColumnRole::range, new_range);
  for (GraphNode& node : trace.graph_nodes) {
    renumber(node.op, new_range);
    renumber(node.call, new_call);
  }
}

void canonicalise_graphs(Trace& trace) {
  const Order new_node = sort_unique(trace.graph_nodes);
  renumber_events(trace, ColumnRole::graph_node, new_node);
  for (GraphEdge& edge : trace.graph_edges) {
    renumber(edge.source, new_node);
    renumber(edge.target, new_node);
  }
  sort_unique(trace.graph_edges);
}

/// Sorts a table that has no time of its own by `key` of its rows.
template <typename Table, typename Key>
void sort_by(Table& table, const Key& key) {
  reorder(table,
          sorted_order(table.size(), [&](RowIndex a, RowIndex b) { return key(a) < key(b); }));
}

void canonicalise_device_events(Trace& trace) {
  renumber_events(trace, ColumnRole::kernel, sort_activities(trace.kernels));
  sort_activities(trace.copies);
  sort_activities(trace.fills);
  sort_activities(trace.graph_launches);
  SyncColumns& syncs = trace.syncs;
  sort_events(syncs, syncs.start_ns, [&](RowIndex r) {
    return std::tuple(syncs.end_ns[r], syncs.device[r], syncs.stream[r], syncs.correlation[r],
                      syncs.kind[r], syncs.event_stream[r], syncs.event_record[r], syncs.call[r],
                      syncs.event_id[r]);
  });
  // At one instant the order of the source stands: a free before an allocation is not the same as
  // after it.
  MemoryEventColumns& memory = trace.memory_events;
  sort_events(memory, memory.time_ns, [&](RowIndex r) { return memory.thread[r]; });
  CollectiveColumns& collectives = trace.collectives;
  sort_by(collectives, [&](RowIndex r) {
    return std::tuple(collectives.kernel[r], collectives.range[r], collectives.operation[r]);
  });
  CudaEventColumns& events = trace.cuda_events;
  sort_by(events, [&](RowIndex r) {
    return std::tuple(events.call[r], events.stream[r], events.event_id[r], events.correlation[r],
                      events.time_ns[r]);
  });
  OverheadColumns& overheads = trace.overheads;
  sort_events(overheads, overheads.start_ns, [&](RowIndex r) {
    return std::tuple(overheads.end_ns[r], overheads.process[r], overheads.thread[r],
                      overheads.kind[r]);
  });
}

/// What only a recording of our own holds. Within equal keys the order of the source stands.
void canonicalise_recording(Trace& trace) {
  MemoryPoolEventColumns& pools = trace.memory_pool_events;
  sort_events(pools, pools.time_ns,
              [&](RowIndex r) { return std::tuple(pools.process[r], pools.pool[r]); });
  MigrationColumns& migrations = trace.migrations;
  sort_events(migrations, migrations.start_ns, [&](RowIndex r) {
    return std::tuple(migrations.end_ns[r], migrations.kind[r], migrations.address[r],
                      migrations.source_device[r], migrations.target_device[r],
                      migrations.value[r]);
  });
  RangePayloadColumns& payloads = trace.range_payloads;
  sort_by(payloads, [&](RowIndex r) { return payloads.range[r]; });
  CallStackColumns& stacks = trace.call_stacks;
  sort_by(stacks, [&](RowIndex r) {
    return std::tuple(stacks.call[r], stacks.graph_node[r], stacks.frame[r]);
  });
  ModuleColumns& modules = trace.modules;
  sort_by(modules, [&](RowIndex r) {
    return std::tuple(modules.process[r], modules.path[r], modules.base[r], modules.bytes[r]);
  });
  GpuSampleColumns& gpus = trace.gpu_samples;
  sort_events(gpus, gpus.time_ns, [&](RowIndex r) { return gpus.device[r]; });
  ThreadSampleColumns& threads = trace.thread_samples;
  sort_events(threads, threads.time_ns, [&](RowIndex r) { return threads.thread[r]; });
  CounterSampleColumns& counters = trace.counter_samples;
  sort_events(counters, counters.time_ns, [&](RowIndex r) {
    return std::tuple(counters.process[r], counters.device[r], counters.metric[r]);
  });
  WindowColumns& windows = trace.windows;
  sort_events(windows, windows.start_ns, [&](RowIndex r) {
    return std::tuple(windows.process[r], windows.end_ns[r], windows.reason[r]);
  });
  CaptureEventColumns& events = trace.capture_events;
  sort_events(events, events.time_ns,
              [&](RowIndex r) { return std::tuple(events.process[r], events.kind[r]); });
  ClockPairColumns& clocks = trace.clock_pairs;
  sort_by(clocks,
          [&](RowIndex r) { return std::tuple(clocks.process[r], clocks.monotonic_ns[r]); });
}

}  // namespace

void canonicalise(Trace& trace) {
  canonicalise_strings(trace);
  canonicalise_dimensions(trace);
  canonicalise_host_events(trace);
  canonicalise_graphs(trace);
  canonicalise_device_events(trace);
  canonicalise_recording(trace);
}

}  // namespace gprofml::profile
