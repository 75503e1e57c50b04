// Deep equality of traces, for tests: every string, dimension row, column and note.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::test {

namespace detail {

/// Remembers the first difference as "WHAT row N".
class Comparison {
 public:
  template <class Value>
  void values(const std::string& what, const std::vector<Value>& left,
              const std::vector<Value>& right) {
    if (difference_) return;
    if (left.size() != right.size()) {
      difference_ =
          what + ": " + std::to_string(left.size()) + " rows and " + std::to_string(right.size());
      return;
    }
    for (std::size_t row = 0; row < left.size(); ++row) {
      if (!(left[row] == right[row])) {
        difference_ = what + " row " + std::to_string(row);
        return;
      }
    }
  }

  void that(const std::string& what, bool equal) {
    if (!difference_ && !equal) difference_ = what;
  }

  const std::optional<std::string>& difference() const { return difference_; }

 private:
  std::optional<std::string> difference_;
};

/// Fails to compile when a table gets a column that the comparison below does not know.
template <class Columns, std::size_t kColumns>
inline constexpr bool kHasColumns = sizeof(Columns) == kColumns * sizeof(std::vector<int>);

inline void compare(Comparison& c, const std::string& table, const profile::ActivityColumns& a,
                    const profile::ActivityColumns& b) {
  static_assert(kHasColumns<profile::ActivityColumns, 9>);
  c.values(table + ".start_ns", a.start_ns, b.start_ns);
  c.values(table + ".end_ns", a.end_ns, b.end_ns);
  c.values(table + ".name", a.name, b.name);
  c.values(table + ".stream", a.stream, b.stream);
  c.values(table + ".launch", a.launch, b.launch);
  c.values(table + ".correlation", a.correlation, b.correlation);
  c.values(table + ".graph_node", a.graph_node, b.graph_node);
  c.values(table + ".op", a.op, b.op);
  c.values(table + ".sequence", a.sequence, b.sequence);
}

inline void compare_gpu_work(Comparison& c, const profile::Trace& a, const profile::Trace& b) {
  static_assert(kHasColumns<profile::KernelColumns, 10>);
  compare(c, "kernels", a.kernels, b.kernels);
  c.values("kernels.launch_config", a.kernels.launch_config, b.kernels.launch_config);

  static_assert(kHasColumns<profile::CopyColumns, 13>);
  compare(c, "copies", a.copies, b.copies);
  c.values("copies.bytes", a.copies.bytes, b.copies.bytes);
  c.values("copies.kind", a.copies.kind, b.copies.kind);
  c.values("copies.source_memory", a.copies.source_memory, b.copies.source_memory);
  c.values("copies.target_memory", a.copies.target_memory, b.copies.target_memory);

  static_assert(kHasColumns<profile::FillColumns, 11>);
  compare(c, "fills", a.fills, b.fills);
  c.values("fills.bytes", a.fills.bytes, b.fills.bytes);
  c.values("fills.memory", a.fills.memory, b.fills.memory);
}

inline void compare(Comparison& c, const profile::ApiCallColumns& a,
                    const profile::ApiCallColumns& b) {
  static_assert(kHasColumns<profile::ApiCallColumns, 6>);
  c.values("api_calls.start_ns", a.start_ns, b.start_ns);
  c.values("api_calls.end_ns", a.end_ns, b.end_ns);
  c.values("api_calls.name", a.name, b.name);
  c.values("api_calls.thread", a.thread, b.thread);
  c.values("api_calls.correlation", a.correlation, b.correlation);
  c.values("api_calls.kind", a.kind, b.kind);
}

inline void compare(Comparison& c, const profile::RangeColumns& a, const profile::RangeColumns& b) {
  static_assert(kHasColumns<profile::RangeColumns, 7>);
  c.values("ranges.start_ns", a.start_ns, b.start_ns);
  c.values("ranges.end_ns", a.end_ns, b.end_ns);
  c.values("ranges.name", a.name, b.name);
  c.values("ranges.thread", a.thread, b.thread);
  c.values("ranges.kind", a.kind, b.kind);
  c.values("ranges.domain", a.domain, b.domain);
  c.values("ranges.external_id", a.external_id, b.external_id);
}

inline void compare(Comparison& c, const profile::SyncColumns& a, const profile::SyncColumns& b) {
  static_assert(kHasColumns<profile::SyncColumns, 10>);
  c.values("syncs.start_ns", a.start_ns, b.start_ns);
  c.values("syncs.end_ns", a.end_ns, b.end_ns);
  c.values("syncs.kind", a.kind, b.kind);
  c.values("syncs.device", a.device, b.device);
  c.values("syncs.stream", a.stream, b.stream);
  c.values("syncs.event_stream", a.event_stream, b.event_stream);
  c.values("syncs.event_record", a.event_record, b.event_record);
  c.values("syncs.call", a.call, b.call);
  c.values("syncs.correlation", a.correlation, b.correlation);
  c.values("syncs.event_id", a.event_id, b.event_id);
}

inline void compare(Comparison& c, const profile::MemoryEventColumns& a,
                    const profile::MemoryEventColumns& b) {
  static_assert(kHasColumns<profile::MemoryEventColumns, 7>);
  c.values("memory_events.time_ns", a.time_ns, b.time_ns);
  c.values("memory_events.thread", a.thread, b.thread);
  c.values("memory_events.device", a.device, b.device);
  c.values("memory_events.bytes", a.bytes, b.bytes);
  c.values("memory_events.address", a.address, b.address);
  c.values("memory_events.total_allocated", a.total_allocated, b.total_allocated);
  c.values("memory_events.total_reserved", a.total_reserved, b.total_reserved);
}

inline void compare(Comparison& c, const profile::CollectiveColumns& a,
                    const profile::CollectiveColumns& b) {
  static_assert(kHasColumns<profile::CollectiveColumns, 8>);
  c.values("collectives.kernel", a.kernel, b.kernel);
  c.values("collectives.communicator", a.communicator, b.communicator);
  c.values("collectives.operation", a.operation, b.operation);
  c.values("collectives.dtype", a.dtype, b.dtype);
  c.values("collectives.elements_in", a.elements_in, b.elements_in);
  c.values("collectives.elements_out", a.elements_out, b.elements_out);
  c.values("collectives.group_size", a.group_size, b.group_size);
  c.values("collectives.ranks", a.ranks, b.ranks);
}

inline std::vector<std::string> strings_of(const profile::Trace& trace) {
  std::vector<std::string> strings;
  for (std::size_t id = 0; id < trace.strings.size(); ++id) {
    strings.emplace_back(trace.text(static_cast<profile::StringId>(id)));
  }
  return strings;
}

}  // namespace detail

/// Where two traces differ first, as "TABLE.COLUMN row N"; nullopt when they are equal in every
/// string id, meta entry, dimension row and column.
inline std::optional<std::string> first_difference(const profile::Trace& a,
                                                   const profile::Trace& b) {
  detail::Comparison c;
  c.values("strings", detail::strings_of(a), detail::strings_of(b));
  c.that("meta", a.meta == b.meta);
  c.that("clock", a.clock == b.clock);
  c.values("processes", a.processes, b.processes);
  c.values("threads", a.threads, b.threads);
  c.values("devices", a.devices, b.devices);
  c.values("contexts", a.contexts, b.contexts);
  c.values("streams", a.streams, b.streams);
  c.values("launch_configs", a.launch_configs, b.launch_configs);
  c.values("graph_nodes", a.graph_nodes, b.graph_nodes);
  c.values("quality", a.quality, b.quality);
  detail::compare_gpu_work(c, a, b);
  detail::compare(c, a.api_calls, b.api_calls);
  detail::compare(c, a.ranges, b.ranges);
  detail::compare(c, a.syncs, b.syncs);
  detail::compare(c, a.memory_events, b.memory_events);
  detail::compare(c, a.collectives, b.collectives);
  return c.difference();
}

}  // namespace gprofml::test
