// Builds small traces by hand, for tests whose answer is worked out on paper. Times in nanoseconds.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::test {

class TraceBuilder {
 public:
  TraceBuilder() {
    trace_.processes.push_back({});
    trace_.processes[0].pid = 1;
  }

  /// Streams and threads are made on first use; device, stream and thread numbers are free.
  void kernel(std::string_view name, std::int64_t device, std::int64_t stream, std::int64_t start,
              std::int64_t end, std::int64_t correlation = profile::kUnknown) {
    activity(trace_.kernels, name, device, stream, start, end, correlation);
    trace_.kernels.launch_config.push_back(profile::kNoRow);
  }

  void copy(profile::CopyKind kind, profile::MemoryKind host_memory, std::int64_t device,
            std::int64_t stream, std::int64_t start, std::int64_t end,
            std::int64_t correlation = profile::kUnknown) {
    activity(trace_.copies, "Memcpy", device, stream, start, end, correlation);
    trace_.copies.bytes.push_back(profile::kUnknown);
    trace_.copies.kind.push_back(kind);
    const bool to_host = kind == profile::CopyKind::device_to_host;
    const bool on_device = kind == profile::CopyKind::device_to_device;
    const auto device_memory = profile::MemoryKind::device;
    trace_.copies.source_memory.push_back(to_host || on_device ? device_memory : host_memory);
    trace_.copies.target_memory.push_back(to_host ? host_memory : device_memory);
  }

  void fill(std::int64_t device, std::int64_t stream, std::int64_t start, std::int64_t end,
            std::int64_t correlation = profile::kUnknown) {
    activity(trace_.fills, "Memset", device, stream, start, end, correlation);
    trace_.fills.bytes.push_back(profile::kUnknown);
    trace_.fills.memory.push_back(profile::MemoryKind::device);
  }

  void call(std::string_view name, std::int64_t thread, std::int64_t start, std::int64_t end,
            std::int64_t correlation = profile::kUnknown) {
    profile::ApiCallColumns& calls = trace_.api_calls;
    calls.start_ns.push_back(start);
    calls.end_ns.push_back(end);
    calls.name.push_back(trace_.intern(name));
    calls.thread.push_back(thread_row(thread));
    calls.correlation.push_back(correlation);
    calls.kind.push_back(profile::ApiKind::runtime);
    calls.result.push_back(profile::kUnknown);
  }

  void range(profile::RangeKind kind, std::string_view name, std::int64_t thread,
             std::int64_t start, std::int64_t end) {
    profile::RangeColumns& ranges = trace_.ranges;
    ranges.start_ns.push_back(start);
    ranges.end_ns.push_back(end);
    ranges.name.push_back(trace_.intern(name));
    ranges.thread.push_back(thread_row(thread));
    ranges.kind.push_back(kind);
    ranges.domain.push_back(0);
    ranges.external_id.push_back(profile::kUnknown);
    ranges.category.push_back(0);
    ranges.color.push_back(profile::kUnknown);
  }

  void op(std::string_view name, std::int64_t thread, std::int64_t start, std::int64_t end) {
    range(profile::RangeKind::op, name, thread, start, end);
  }

  /// A kernel that a graph launch replays.
  void replayed(std::string_view name, std::int64_t graph, std::int64_t node, std::int64_t stream,
                std::int64_t start, std::int64_t end, std::int64_t correlation) {
    kernel(name, 0, stream, start, end, correlation);
    trace_.kernels.graph_node.back() = node_row(graph, node);
  }

  /// Where a node was captured: the range added last of that name; and the call that was captured,
  /// by its number in the order of adding.
  void captured(std::int64_t graph, std::int64_t node, std::string_view range,
                profile::RowIndex call = profile::kNoRow) {
    profile::GraphNode& captured = trace_.graph_nodes[node_row(graph, node)];
    captured.call = call;
    for (profile::RowIndex r = 0; r < trace_.ranges.size(); ++r) {
      if (trace_.text(trace_.ranges.name[r]) == range) captured.op = r;
    }
  }

  /// A recorded dependency: `target` runs after `source`.
  void edge(std::int64_t graph, std::int64_t source, std::int64_t target) {
    const profile::RowIndex from = node_row(graph, source);
    trace_.graph_edges.push_back({from, node_row(graph, target)});
  }

  void stream_flags(std::int64_t device, std::int64_t stream, profile::StreamKind flags) {
    trace_.streams[stream_row(device, stream)].flags = flags;
  }

  /// A synchronisation record; stream numbers < 0 are "none recorded".
  void sync(profile::SyncKind kind, std::int64_t device, std::int64_t stream,
            std::int64_t correlation, std::int64_t event_stream = -1,
            std::int64_t record_correlation = profile::kUnknown) {
    profile::SyncColumns& syncs = trace_.syncs;
    syncs.start_ns.push_back(0);
    syncs.end_ns.push_back(0);
    syncs.kind.push_back(kind);
    syncs.device.push_back(device < 0 ? profile::kNoRow : device_row(device));
    syncs.stream.push_back(stream < 0 ? profile::kNoRow : stream_row(device, stream));
    syncs.event_stream.push_back(event_stream < 0 ? profile::kNoRow
                                                  : stream_row(device, event_stream));
    syncs.event_record.push_back(profile::kNoRow);
    syncs.call.push_back(profile::kNoRow);
    syncs.correlation.push_back(correlation);
    syncs.event_id.push_back(profile::kUnknown);
    record_correlation_.push_back(record_correlation);
  }

  /// The finished trace: launches resolved, in canonical order.
  profile::Trace build() const {
    profile::Trace trace = trace_;
    profile::resolve_correlations(trace, record_correlation_);
    profile::canonicalise(trace);
    return trace;
  }

 private:
  void activity(profile::ActivityColumns& c, std::string_view name, std::int64_t device,
                std::int64_t stream, std::int64_t start, std::int64_t end,
                std::int64_t correlation) {
    c.start_ns.push_back(start);
    c.end_ns.push_back(end);
    c.name.push_back(trace_.intern(name));
    c.stream.push_back(stream_row(device, stream));
    c.launch.push_back(profile::kNoRow);
    c.correlation.push_back(correlation);
    c.graph_node.push_back(profile::kNoRow);
    c.op.push_back(profile::kNoRow);
    c.sequence.push_back(sequence_++);
  }

  profile::RowIndex device_row(std::int64_t ordinal) {
    for (profile::RowIndex d = 0; d < trace_.devices.size(); ++d) {
      if (trace_.devices[d].ordinal == ordinal) return d;
    }
    profile::Device device;
    device.ordinal = ordinal;
    device.process = 0;
    trace_.devices.push_back(device);
    const auto row = static_cast<profile::RowIndex>(trace_.devices.size() - 1);
    profile::Context context;
    context.process = 0;
    context.device = row;
    context.id = 1;
    trace_.contexts.push_back(context);  // one a device: same row number
    return row;
  }

  profile::RowIndex stream_row(std::int64_t device, std::int64_t id) {
    const profile::RowIndex context = device_row(device);
    for (profile::RowIndex s = 0; s < trace_.streams.size(); ++s) {
      if (trace_.streams[s].context == context && trace_.streams[s].id == id) return s;
    }
    profile::Stream stream;
    stream.context = context;
    stream.id = id;
    trace_.streams.push_back(stream);
    return static_cast<profile::RowIndex>(trace_.streams.size() - 1);
  }

  profile::RowIndex node_row(std::int64_t graph, std::int64_t id) {
    for (profile::RowIndex n = 0; n < trace_.graph_nodes.size(); ++n) {
      const profile::GraphNode& node = trace_.graph_nodes[n];
      if (node.graph_id == graph && node.node_id == id) return n;
    }
    profile::GraphNode node;
    node.process = 0;
    node.graph_id = graph;
    node.node_id = id;
    trace_.graph_nodes.push_back(node);
    return static_cast<profile::RowIndex>(trace_.graph_nodes.size() - 1);
  }

  profile::RowIndex thread_row(std::int64_t tid) {
    for (profile::RowIndex t = 0; t < trace_.threads.size(); ++t) {
      if (trace_.threads[t].tid == tid) return t;
    }
    profile::Thread thread;
    thread.process = 0;
    thread.pid = 1;
    thread.tid = tid;
    trace_.threads.push_back(thread);
    return static_cast<profile::RowIndex>(trace_.threads.size() - 1);
  }

  profile::Trace trace_;
  std::vector<std::int64_t> record_correlation_;
  std::uint32_t sequence_ = 0;
};

}  // namespace gprofml::test
