#include "libprofile/store/table_binding.hpp"

#include <sys/mman.h>

#include <array>
#include <type_traits>

namespace gprofml::profile::detail {
namespace {

/// How a member is kept, whatever container it lies in.
struct Encoding {
  bool nullable = false;
  std::uint64_t null_bits = 0;
  TableId target = TableId::none;
  std::uint64_t limit = 0;
  bool is_real = false;
};

constexpr Encoding kInteger{};
constexpr Encoding kReal{false, 0, TableId::none, 0, true};
constexpr Encoding kOptionalInteger{true, static_cast<std::uint64_t>(kUnknown)};
constexpr Encoding kUnsigned32{false, 0, TableId::none, std::uint64_t{1} << 32};
constexpr Encoding kName{false, 0, TableId::string};

constexpr Encoding reference(TableId target) {
  return {true, kNoRow, target};
}

/// An enum of which `last` is the last value.
template <class Enum>
constexpr Encoding enumeration(Enum last) {
  return {false, 0, TableId::none, static_cast<std::uint64_t>(last) + 1};
}

/// Collects the columns of one table.
class TableBinder {
 public:
  TableBinder(TableId id, std::string_view name, std::size_t rows) {
    table_.id = id;
    table_.name = name;
    table_.rows = rows;
  }

  /// A table whose rows are the elements of `vector`.
  template <class Value>
  TableBinder& column(std::string_view name, std::vector<Value>& vector, Encoding encoding) {
    add_storage(vector);
    add(name, encoding, vector, sizeof(Value), 0);
    return *this;
  }

  /// A table whose rows are structs, of which this column is one member.
  template <class Row, class Value>
  TableBinder& member(std::string_view name, std::vector<Row>& rows, Value Row::*member,
                      Encoding encoding) {
    const Row sample;
    if (table_.storage.empty()) add_storage(rows);
    add(name, encoding, rows, sizeof(Value), distance(sample, sample.*member));
    return *this;
  }

  /// As `member`, three columns for x, y and z.
  template <class Row>
  TableBinder& extent(const std::array<std::string_view, 3>& names, std::vector<Row>& rows,
                      std::array<std::int64_t, 3> Row::*member) {
    const Row sample;
    if (table_.storage.empty()) add_storage(rows);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      add(names[axis], kOptionalInteger, rows, sizeof(std::int64_t),
          distance(sample, (sample.*member)[axis]));
    }
    return *this;
  }

  /// The column added last is one that older files of this schema version lack: there it reads as
  /// NULL, or as 0 where it cannot be NULL.
  TableBinder& added_later() {
    table_.columns.back().may_miss = true;
    return *this;
  }

  /// The whole table is one that older files of this schema version lack: there it is empty.
  TableBinder& table_added_later() {
    table_.may_miss = true;
    return *this;
  }

  TableBinding take() { return std::move(table_); }

 private:
  template <class Row, class Value>
  static std::size_t distance(const Row& row, const Value& value) {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&value) -
                                    reinterpret_cast<const std::byte*>(&row));
  }

  template <class Element>
  void add_storage(std::vector<Element>& vector) {
    using Vector = std::vector<Element>;
    table_.storage.push_back(
        {&vector, [](void* v, std::size_t rows) { static_cast<Vector*>(v)->resize(rows); },
         [](void* v, std::size_t rows) {
           auto& elements = *static_cast<Vector*>(v);
           elements.reserve(rows);
           return std::pair<void*, std::size_t>(elements.data(), rows * sizeof(Element));
         }});
  }

  template <class Element>
  void add(std::string_view name, const Encoding& encoding, std::vector<Element>& vector,
           std::size_t bytes, std::size_t offset) {
    static_assert(std::is_trivially_copyable_v<Element>);
    ColumnBinding column;
    column.name = name;
    column.bytes = static_cast<std::uint8_t>(bytes);
    column.is_real = encoding.is_real;
    column.nullable = encoding.nullable;
    column.null_bits = encoding.null_bits;
    column.target = encoding.target;
    column.limit = encoding.limit;
    column.container = &vector;
    column.data = [](void* v) {
      return reinterpret_cast<std::byte*>(static_cast<std::vector<Element>*>(v)->data());
    };
    column.offset = offset;
    column.stride = sizeof(Element);
    table_.columns.push_back(column);
  }

  TableBinding table_;
};

void bind_dimensions(Trace& trace, std::vector<TableBinding>& tables) {
  tables.push_back(TableBinder(TableId::process, "process", trace.processes.size())
                       .member("pid", trace.processes, &Process::pid, kOptionalInteger)
                       .member("rank", trace.processes, &Process::rank, kOptionalInteger)
                       .member("host", trace.processes, &Process::host, kName)
                       .member("source", trace.processes, &Process::source, kName)
                       .member("command", trace.processes, &Process::command, kName)
                       .take());
  tables.push_back(
      TableBinder(TableId::thread, "thread", trace.threads.size())
          .member("process", trace.threads, &Thread::process, reference(TableId::process))
          .member("pid", trace.threads, &Thread::pid, kOptionalInteger)
          .member("tid", trace.threads, &Thread::tid, kOptionalInteger)
          .member("name", trace.threads, &Thread::name, kName)
          .take());
  auto& devices = trace.devices;
  tables.push_back(
      TableBinder(TableId::device, "device", devices.size())
          .member("ordinal", devices, &Device::ordinal, kOptionalInteger)
          .member("uuid", devices, &Device::uuid, kName)
          .member("pci_bus", devices, &Device::pci_bus, kName)
          .member("host", devices, &Device::host, kName)
          .member("process", devices, &Device::process, reference(TableId::process))
          .member("name", devices, &Device::name, kName)
          .member("memory_bytes", devices, &Device::memory_bytes, kOptionalInteger)
          .member("multiprocessors", devices, &Device::multiprocessors, kOptionalInteger)
          .member("compute_major", devices, &Device::compute_major, kOptionalInteger)
          .member("compute_minor", devices, &Device::compute_minor, kOptionalInteger)
          .take());
  tables.push_back(
      TableBinder(TableId::context, "context", trace.contexts.size())
          .member("process", trace.contexts, &Context::process, reference(TableId::process))
          .member("device", trace.contexts, &Context::device, reference(TableId::device))
          .member("context_id", trace.contexts, &Context::id, kOptionalInteger)
          .take());
  tables.push_back(
      TableBinder(TableId::stream, "stream", trace.streams.size())
          .member("context", trace.streams, &Stream::context, reference(TableId::context))
          .member("stream_id", trace.streams, &Stream::id, kOptionalInteger)
          .member("flags", trace.streams, &Stream::flags, enumeration(StreamKind::per_thread))
          .added_later()
          .member("priority", trace.streams, &Stream::priority, kOptionalInteger)
          .added_later()
          .take());
}

void bind_descriptions(Trace& trace, std::vector<TableBinding>& tables) {
  auto& configs = trace.launch_configs;
  tables.push_back(
      TableBinder(TableId::launch_config, "launch_config", configs.size())
          .extent({"grid_x", "grid_y", "grid_z"}, configs, &LaunchConfig::grid)
          .extent({"block_x", "block_y", "block_z"}, configs, &LaunchConfig::block)
          .extent({"cluster_x", "cluster_y", "cluster_z"}, configs, &LaunchConfig::cluster)
          .member("registers_per_thread", configs, &LaunchConfig::registers_per_thread,
                  kOptionalInteger)
          .member("static_shared_bytes", configs, &LaunchConfig::static_shared_bytes,
                  kOptionalInteger)
          .member("dynamic_shared_bytes", configs, &LaunchConfig::dynamic_shared_bytes,
                  kOptionalInteger)
          .member("local_bytes_per_thread", configs, &LaunchConfig::local_bytes_per_thread,
                  kOptionalInteger)
          .take());
  tables.push_back(
      TableBinder(TableId::quality, "quality", trace.quality.size())
          .member("process", trace.quality, &QualityNote::process, reference(TableId::process))
          .member("code", trace.quality, &QualityNote::code, kName)
          .member("count", trace.quality, &QualityNote::count, kOptionalInteger)
          .member("detail", trace.quality, &QualityNote::detail, kName)
          .take());
}

void bind_host_events(Trace& trace, std::vector<TableBinding>& tables) {
  auto& calls = trace.api_calls;
  tables.push_back(TableBinder(TableId::api_call, "api_call", calls.size())
                       .column("start_ns", calls.start_ns, kInteger)
                       .column("end_ns", calls.end_ns, kInteger)
                       .column("name", calls.name, kName)
                       .column("thread", calls.thread, reference(TableId::thread))
                       .column("kind", calls.kind, enumeration(ApiKind::driver))
                       .column("correlation", calls.correlation, kOptionalInteger)
                       .column("result", calls.result, kOptionalInteger)
                       .added_later()
                       .take());
  auto& ranges = trace.ranges;
  tables.push_back(TableBinder(TableId::range, "range", ranges.size())
                       .column("start_ns", ranges.start_ns, kInteger)
                       .column("end_ns", ranges.end_ns, kInteger)
                       .column("name", ranges.name, kName)
                       .column("thread", ranges.thread, reference(TableId::thread))
                       .column("kind", ranges.kind, enumeration(RangeKind::python_function))
                       .column("domain", ranges.domain, kName)
                       .column("external_id", ranges.external_id, kOptionalInteger)
                       .column("category", ranges.category, kName)
                       .added_later()
                       .column("color", ranges.color, kOptionalInteger)
                       .added_later()
                       .take());
}

void bind_graphs(Trace& trace, std::vector<TableBinding>& tables) {
  auto& nodes = trace.graph_nodes;
  tables.push_back(TableBinder(TableId::graph_node, "graph_node", nodes.size())
                       .member("process", nodes, &GraphNode::process, reference(TableId::process))
                       .member("graph_id", nodes, &GraphNode::graph_id, kOptionalInteger)
                       .member("node_id", nodes, &GraphNode::node_id, kOptionalInteger)
                       .member("type", nodes, &GraphNode::type, kName)
                       .added_later()
                       .member("op", nodes, &GraphNode::op, reference(TableId::range))
                       .added_later()
                       .member("call", nodes, &GraphNode::call, reference(TableId::api_call))
                       .added_later()
                       .take());
  auto& edges = trace.graph_edges;
  tables.push_back(TableBinder(TableId::graph_edge, "graph_edge", edges.size())
                       .member("source", edges, &GraphEdge::source, reference(TableId::graph_node))
                       .member("target", edges, &GraphEdge::target, reference(TableId::graph_node))
                       .take());
}

TableBinder begin_activity(TableId id, std::string_view name, ActivityColumns& activity) {
  TableBinder binder(id, name, activity.size());
  binder.column("start_ns", activity.start_ns, kInteger)
      .column("end_ns", activity.end_ns, kInteger)
      .column("name", activity.name, kName)
      .column("stream", activity.stream, reference(TableId::stream))
      .column("launch", activity.launch, reference(TableId::api_call));
  return binder;
}

TableBinding end_activity(TableBinder& binder, ActivityColumns& activity) {
  return binder.column("op", activity.op, reference(TableId::range))
      .column("graph_node", activity.graph_node, reference(TableId::graph_node))
      .column("correlation", activity.correlation, kOptionalInteger)
      .column("sequence", activity.sequence, kUnsigned32)
      .take();
}

void bind_gpu_work(Trace& trace, std::vector<TableBinding>& tables) {
  TableBinder kernels = begin_activity(TableId::kernel, "kernel", trace.kernels);
  kernels.column("launch_config", trace.kernels.launch_config, reference(TableId::launch_config));
  tables.push_back(end_activity(kernels, trace.kernels));

  constexpr Encoding kMemory = enumeration(MemoryKind::device_static);
  TableBinder copies = begin_activity(TableId::copy, "copy", trace.copies);
  copies.column("bytes", trace.copies.bytes, kOptionalInteger)
      .column("kind", trace.copies.kind, enumeration(CopyKind::device_to_array))
      .column("source_memory", trace.copies.source_memory, kMemory)
      .column("target_memory", trace.copies.target_memory, kMemory);
  tables.push_back(end_activity(copies, trace.copies));

  TableBinder fills = begin_activity(TableId::fill, "fill", trace.fills);
  fills.column("bytes", trace.fills.bytes, kOptionalInteger)
      .column("memory", trace.fills.memory, kMemory);
  tables.push_back(end_activity(fills, trace.fills));

  TableBinder graphs = begin_activity(TableId::graph_launch, "graph_launch", trace.graph_launches);
  graphs.table_added_later().column("graph_id", trace.graph_launches.graph_id, kOptionalInteger);
  tables.push_back(end_activity(graphs, trace.graph_launches));
}

void bind_other_events(Trace& trace, std::vector<TableBinding>& tables) {
  auto& syncs = trace.syncs;
  tables.push_back(TableBinder(TableId::sync, "sync", syncs.size())
                       .column("start_ns", syncs.start_ns, kInteger)
                       .column("end_ns", syncs.end_ns, kInteger)
                       .column("kind", syncs.kind, enumeration(SyncKind::context))
                       .column("device", syncs.device, reference(TableId::device))
                       .column("stream", syncs.stream, reference(TableId::stream))
                       .column("event_stream", syncs.event_stream, reference(TableId::stream))
                       .column("event_record", syncs.event_record, reference(TableId::api_call))
                       .column("call", syncs.call, reference(TableId::api_call))
                       .column("correlation", syncs.correlation, kOptionalInteger)
                       .column("event_id", syncs.event_id, kOptionalInteger)
                       .take());
  auto& events = trace.cuda_events;
  tables.push_back(TableBinder(TableId::cuda_event, "cuda_event", events.size())
                       .column("event_id", events.event_id, kOptionalInteger)
                       .column("stream", events.stream, reference(TableId::stream))
                       .column("call", events.call, reference(TableId::api_call))
                       .column("correlation", events.correlation, kOptionalInteger)
                       .column("time_ns", events.time_ns, kOptionalInteger)
                       .take());
  auto& overheads = trace.overheads;
  tables.push_back(TableBinder(TableId::overhead, "overhead", overheads.size())
                       .column("start_ns", overheads.start_ns, kInteger)
                       .column("end_ns", overheads.end_ns, kInteger)
                       .column("kind", overheads.kind, kName)
                       .column("process", overheads.process, reference(TableId::process))
                       .column("thread", overheads.thread, reference(TableId::thread))
                       .take());
  auto& memory = trace.memory_events;
  tables.push_back(TableBinder(TableId::memory_event, "memory_event", memory.size())
                       .column("time_ns", memory.time_ns, kInteger)
                       .column("thread", memory.thread, reference(TableId::thread))
                       .column("device", memory.device, reference(TableId::device))
                       .column("bytes", memory.bytes, kOptionalInteger)
                       .column("address", memory.address, kInteger)
                       .column("total_allocated", memory.total_allocated, kOptionalInteger)
                       .column("total_reserved", memory.total_reserved, kOptionalInteger)
                       .column("memory", memory.memory, enumeration(MemoryKind::device_static))
                       .added_later()
                       .column("stream", memory.stream, reference(TableId::stream))
                       .added_later()
                       .column("call", memory.call, reference(TableId::api_call))
                       .added_later()
                       .column("pool", memory.pool, kInteger)
                       .added_later()
                       .column("source", memory.source, kName)
                       .added_later()
                       .column("correlation", memory.correlation, kOptionalInteger)
                       .added_later()
                       .take());
  auto& collectives = trace.collectives;
  tables.push_back(TableBinder(TableId::collective, "collective", collectives.size())
                       .column("kernel", collectives.kernel, reference(TableId::kernel))
                       .column("communicator", collectives.communicator, kName)
                       .column("operation", collectives.operation, kName)
                       .column("dtype", collectives.dtype, kName)
                       .column("elements_in", collectives.elements_in, kOptionalInteger)
                       .column("elements_out", collectives.elements_out, kOptionalInteger)
                       .column("bytes", collectives.bytes, kOptionalInteger)
                       .added_later()
                       .column("range", collectives.range, reference(TableId::range))
                       .added_later()
                       .column("group_size", collectives.group_size, kOptionalInteger)
                       .column("ranks", collectives.ranks, kName)
                       .take());
}

void bind_memory(Trace& trace, std::vector<TableBinding>& tables) {
  auto& pools = trace.memory_pool_events;
  tables.push_back(
      TableBinder(TableId::memory_pool_event, "memory_pool_event", pools.size())
          .table_added_later()
          .column("time_ns", pools.time_ns, kInteger)
          .column("process", pools.process, reference(TableId::process))
          .column("device", pools.device, reference(TableId::device))
          .column("operation", pools.operation, enumeration(PoolOperation::trimmed))
          .column("pool", pools.pool, kInteger)
          .column("bytes", pools.bytes, kOptionalInteger)
          .column("used_bytes", pools.used_bytes, kOptionalInteger)
          .column("release_threshold_bytes", pools.release_threshold_bytes, kOptionalInteger)
          .take());
  auto& migrations = trace.migrations;
  tables.push_back(
      TableBinder(TableId::migration, "migration", migrations.size())
          .table_added_later()
          .column("start_ns", migrations.start_ns, kInteger)
          .column("end_ns", migrations.end_ns, kInteger)
          .column("kind", migrations.kind, enumeration(MigrationKind::remote_map))
          .column("source_device", migrations.source_device, reference(TableId::device))
          .column("target_device", migrations.target_device, reference(TableId::device))
          .column("value", migrations.value, kOptionalInteger)
          .column("address", migrations.address, kInteger)
          .take());
}

void bind_origins(Trace& trace, std::vector<TableBinding>& tables) {
  auto& payloads = trace.range_payloads;
  tables.push_back(TableBinder(TableId::range_payload, "range_payload", payloads.size())
                       .column("range", payloads.range, reference(TableId::range))
                       .column("key", payloads.key, kName)
                       .column("value", payloads.value, kName)
                       .take());
  auto& frames = trace.stack_frames;
  tables.push_back(TableBinder(TableId::stack_frame, "stack_frame", frames.size())
                       .table_added_later()
                       // Below the table's own size, which first_inconsistency checks.
                       .member("parent", frames, &StackFrame::parent,
                               Encoding{true, kNoRow, TableId::none, std::uint64_t{kNoRow}})
                       .member("function", frames, &StackFrame::function, kName)
                       .member("module", frames, &StackFrame::module, kName)
                       .member("offset", frames, &StackFrame::offset, kOptionalInteger)
                       .take());
  auto& stacks = trace.call_stacks;
  tables.push_back(TableBinder(TableId::call_stack, "call_stack", stacks.size())
                       .table_added_later()
                       .column("call", stacks.call, reference(TableId::api_call))
                       .column("graph_node", stacks.graph_node, reference(TableId::graph_node))
                       .column("frame", stacks.frame, reference(TableId::stack_frame))
                       .take());
  auto& modules = trace.modules;
  tables.push_back(TableBinder(TableId::module, "module", modules.size())
                       .table_added_later()
                       .column("process", modules.process, reference(TableId::process))
                       .column("path", modules.path, kName)
                       .column("build_id", modules.build_id, kName)
                       .column("base", modules.base, kInteger)
                       .column("bytes", modules.bytes, kOptionalInteger)
                       .take());
}

void bind_samples(Trace& trace, std::vector<TableBinding>& tables) {
  auto& gpus = trace.gpu_samples;
  tables.push_back(TableBinder(TableId::gpu_sample, "gpu_sample", gpus.size())
                       .table_added_later()
                       .column("time_ns", gpus.time_ns, kInteger)
                       .column("device", gpus.device, reference(TableId::device))
                       .column("sm_clock_mhz", gpus.sm_clock_mhz, kOptionalInteger)
                       .column("memory_clock_mhz", gpus.memory_clock_mhz, kOptionalInteger)
                       .column("power_mw", gpus.power_mw, kOptionalInteger)
                       .column("temperature_c", gpus.temperature_c, kOptionalInteger)
                       .column("throttle_reasons", gpus.throttle_reasons, kOptionalInteger)
                       .column("memory_used_bytes", gpus.memory_used_bytes, kOptionalInteger)
                       .column("busy_percent", gpus.busy_percent, kOptionalInteger)
                       .column("foreign_processes", gpus.foreign_processes, kOptionalInteger)
                       .take());
  auto& threads = trace.thread_samples;
  tables.push_back(TableBinder(TableId::thread_sample, "thread_sample", threads.size())
                       .table_added_later()
                       .column("time_ns", threads.time_ns, kInteger)
                       .column("thread", threads.thread, reference(TableId::thread))
                       .column("on_cpu_ns", threads.on_cpu_ns, kOptionalInteger)
                       .column("runnable_ns", threads.runnable_ns, kOptionalInteger)
                       .column("timeslices", threads.timeslices, kOptionalInteger)
                       .column("last_cpu", threads.last_cpu, kOptionalInteger)
                       .take());
  auto& metrics = trace.counter_metrics;
  tables.push_back(TableBinder(TableId::counter_metric, "counter_metric", metrics.size())
                       .member("name", metrics, &CounterMetric::name, kName)
                       .member("unit", metrics, &CounterMetric::unit, kName)
                       .member("description", metrics, &CounterMetric::description, kName)
                       .take());
  auto& counters = trace.counter_samples;
  tables.push_back(TableBinder(TableId::counter_sample, "counter_sample", counters.size())
                       .column("time_ns", counters.time_ns, kInteger)
                       .column("metric", counters.metric, reference(TableId::counter_metric))
                       .column("device", counters.device, reference(TableId::device))
                       .column("process", counters.process, reference(TableId::process))
                       .added_later()
                       .column("value", counters.value, kReal)
                       .take());
}

void bind_capture(Trace& trace, std::vector<TableBinding>& tables) {
  auto& windows = trace.windows;
  tables.push_back(TableBinder(TableId::window, "window", windows.size())
                       .table_added_later()
                       .column("start_ns", windows.start_ns, kInteger)
                       .column("end_ns", windows.end_ns, kInteger)
                       .column("process", windows.process, reference(TableId::process))
                       .column("reason", windows.reason, kName)
                       .take());
  auto& events = trace.capture_events;
  tables.push_back(TableBinder(TableId::capture_event, "capture_event", events.size())
                       .table_added_later()
                       .column("time_ns", events.time_ns, kInteger)
                       .column("process", events.process, reference(TableId::process))
                       .column("kind", events.kind, kName)
                       .column("detail", events.detail, kName)
                       .column("value", events.value, kOptionalInteger)
                       .take());
  auto& clocks = trace.clock_pairs;
  tables.push_back(TableBinder(TableId::clock_pair, "clock_pair", clocks.size())
                       .column("process", clocks.process, reference(TableId::process))
                       .column("realtime_ns", clocks.realtime_ns, kInteger)
                       .added_later()
                       .column("monotonic_ns", clocks.monotonic_ns, kInteger)
                       .added_later()
                       .column("cupti_ns", clocks.cupti_ns, kOptionalInteger)
                       .added_later()
                       .column("uncertainty_ns", clocks.uncertainty_ns, kOptionalInteger)
                       .take());
}

/// Asks for 2 MiB pages inside a large range. Touching new memory page by page takes a third of the
/// time of reading a table otherwise, more where the machine is virtual. Only a wish: it may fail.
void prefer_huge_pages(void* begin, std::size_t bytes) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  const std::uintptr_t first = (address + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t last = (address + bytes) / kHugePage * kHugePage;
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

}  // namespace

void TableBinding::resize(std::size_t rows_wanted) const {
  for (const Storage& part : storage) part.resize(part.container, rows_wanted);
}

void TableBinding::reserve(std::size_t rows_wanted) const {
  for (const Storage& part : storage) {
    const auto [begin, bytes] = part.reserve(part.container, rows_wanted);
    prefer_huge_pages(begin, bytes);
  }
}

std::vector<TableBinding> bind_tables(Trace& trace) {
  std::vector<TableBinding> tables;
  bind_dimensions(trace, tables);
  bind_descriptions(trace, tables);
  bind_host_events(trace, tables);
  bind_graphs(trace, tables);
  bind_gpu_work(trace, tables);
  bind_other_events(trace, tables);
  bind_memory(trace, tables);
  bind_origins(trace, tables);
  bind_samples(trace, tables);
  bind_capture(trace, tables);
  return tables;
}

}  // namespace gprofml::profile::detail
