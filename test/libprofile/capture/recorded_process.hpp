// A process's spool written by hand, one call an event. Times in nanoseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "test/libprofile/spool/spool_writer.hpp"

namespace gprofml::test {

class RecordedProcess {
 public:
  explicit RecordedProcess(std::uint32_t pid = 100, std::int64_t start_ns = 1'000'000'000)
      : spool(pid, start_ns) {
    spool.fact("host", "node1");
    spool.fact("command", std::string_view("./train\0--steps\0three more\0", 27));
  }

  SpoolWriter spool;

  void device(std::uint32_t id, std::uint8_t uuid, std::uint8_t mig = 0) {
    gprofml::spool::Device record{};
    record.id = id;
    record.name = spool.string("NVIDIA H100");
    for (std::uint8_t& byte : record.uuid) byte = uuid;
    for (std::uint8_t& byte : record.mig_uuid) byte = mig;
    record.memory_bytes = 80'000'000'000;
    record.multiprocessors = 132;
    record.compute_major = 9;
    spool.add(record);
  }

  void context(std::uint32_t id, std::uint32_t device, std::uint32_t null_stream) {
    gprofml::spool::Context record{};
    record.id = id;
    record.device = device;
    record.null_stream = null_stream;
    spool.add(record);
  }

  void stream(std::uint32_t context, std::uint32_t id, std::uint32_t flag,
              std::int32_t priority = 0) {
    gprofml::spool::Stream record{};
    record.context = context;
    record.id = id;
    record.flag = flag;
    record.priority = priority;
    spool.add(record);
  }

  void kernel(std::string_view name, std::uint32_t stream, std::int64_t start, std::int64_t end,
              std::uint32_t correlation, std::uint32_t graph = 0, std::uint64_t node = 0,
              std::uint32_t context = 1, std::uint32_t device = 0) {
    gprofml::spool::Kernel record{};
    record.start_ns = start;
    record.end_ns = end;
    record.graph_node = node;
    record.graph = graph;
    record.name = spool.string(name);
    record.device = device;
    record.context = context;
    record.stream = stream;
    record.correlation = correlation;
    record.launch_config = gprofml::spool::kNoId;
    spool.add(record);
  }

  void call(std::string_view name, std::uint32_t tid, std::int64_t start, std::int64_t end,
            std::uint32_t correlation, std::uint32_t domain = 0, std::uint32_t result = 0) {
    gprofml::spool::ApiCall record{};
    record.start_ns = start;
    record.end_ns = end;
    record.correlation = correlation;
    record.name = spool.string(name);
    record.tid = tid;
    record.domain = domain;
    record.return_value = result;
    spool.add(record);
  }

  /// Numbers as CUPTI's: type 1 event, 2 stream wait, 3 stream, 4 context.
  void sync(std::uint32_t type, std::uint32_t stream, std::int64_t start, std::int64_t end,
            std::uint32_t correlation, std::uint32_t event = gprofml::spool::kNoId,
            std::uint64_t event_sync = ~std::uint64_t{0}, std::uint32_t context = 1) {
    gprofml::spool::Sync record{};
    record.start_ns = start;
    record.end_ns = end;
    record.event_sync = event_sync;
    record.type = type;
    record.correlation = correlation;
    record.context = context;
    record.stream = stream;
    record.event = event;
    spool.add(record);
  }

  void event(std::uint32_t event, std::uint32_t stream, std::uint32_t correlation,
             std::uint64_t event_sync = ~std::uint64_t{0}, std::int64_t device_time = 0,
             std::uint32_t context = 1) {
    gprofml::spool::CudaEvent record{};
    record.event_sync = event_sync;
    record.device_time_ns = device_time;
    record.correlation = correlation;
    record.context = context;
    record.stream = stream;
    record.event = event;
    spool.add(record);
  }

  void node(std::uint32_t graph, std::uint64_t node, std::uint32_t tid, std::int64_t time,
            std::uint32_t original_graph = 0, std::uint64_t original = 0, std::uint32_t type = 0) {
    gprofml::spool::GraphNode record{};
    record.time_ns = time;
    record.node = node;
    record.original_node = original;
    record.graph = graph;
    record.original_graph = original_graph;
    record.type = type;
    record.tid = tid;
    spool.add(record);
  }

  void edge(std::uint64_t source, std::uint64_t target, std::int64_t time = 0,
            bool is_removed = false) {
    gprofml::spool::GraphEdge record{};
    record.time_ns = time;
    record.is_removed = is_removed ? 1 : 0;
    record.source = source;
    record.target = target;
    spool.add(record);
  }

  void push(std::string_view name, std::uint32_t tid, std::int64_t time, std::uint32_t domain = 0) {
    gprofml::spool::RangePush record{};
    record.time_ns = time;
    record.tid = tid;
    record.domain = domain;
    record.name = spool.string(name);
    spool.add(record);
  }
  void mark(std::string_view name, std::uint32_t tid, std::int64_t time) {
    gprofml::spool::Mark record{};
    record.time_ns = time;
    record.tid = tid;
    record.name = spool.string(name);
    spool.add(record, gprofml::spool::RecordKind::mark);
  }
  void pop(std::uint32_t tid, std::int64_t time, std::uint32_t domain = 0) {
    gprofml::spool::RangePop record{};
    record.time_ns = time;
    record.tid = tid;
    record.domain = domain;
    spool.add(record);
  }
  void range_start(std::string_view name, std::uint64_t id, std::uint32_t tid, std::int64_t time) {
    gprofml::spool::RangeStart record{};
    record.time_ns = time;
    record.id = id;
    record.tid = tid;
    record.name = spool.string(name);
    spool.add(record);
  }
  void range_end(std::uint64_t id, std::uint32_t tid, std::int64_t time) {
    gprofml::spool::RangeEnd record{};
    record.time_ns = time;
    record.id = id;
    record.tid = tid;
    spool.add(record);
  }
  void range(std::string_view name, std::uint32_t tid, std::int64_t start, std::int64_t end) {
    push(name, tid, start);
    pop(tid, end);
  }

  void note(std::string_view code, std::string_view detail, std::uint64_t count) {
    gprofml::spool::Note record{};
    record.code = spool.string(code);
    record.detail = spool.string(detail);
    record.count = count;
    spool.add(record);
  }

  void end(gprofml::spool::EndReason reason = gprofml::spool::EndReason::exit_handler) {
    gprofml::spool::End record{};
    record.reason = reason;
    spool.add(record);
  }
};

}  // namespace gprofml::test
