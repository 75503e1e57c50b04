// Traces that fill every column of every table, NULLs and extremes included.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

#include "libprofile/trace/column_roles.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::test {

/// Makes a consistent trace that means nothing: all values are drawn, among them the least and
/// largest their type can hold, and "none" wherever a column may say so.
class RandomTrace {
 public:
  explicit RandomTrace(std::uint64_t seed) : random_(seed) {}

  profile::Trace make() {
    add_strings();
    add_dimensions();
    add_host_events();
    add_graphs();
    add_kernels();
    add_copies();
    add_fills();
    add_syncs();
    add_cuda_events();
    add_overheads();
    add_memory_events();
    add_collectives();
    add_recording();
    trace_.clock.bound_ns = any_integer();
    trace_.meta = {{"tool", "random"},
                   {"", "empty key"},
                   {"empty value", ""},
                   {"schema_version", "77"},
                   {"trace.schema_version", "78"},
                   {"clock_bound_ns", "none of yours"},
                   {"line\nbreak", std::string("nul\0nul", 7)}};
    return std::move(trace_);
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  std::size_t some() { return 20 + below(200); }

  std::int64_t any_integer() {
    constexpr std::array<std::int64_t, 6> kEdges{std::numeric_limits<std::int64_t>::max(),
                                                 profile::kUnknown,
                                                 profile::kUnknown + 1,
                                                 0,
                                                 1,
                                                 -1};
    if (below(2) == 0) return kEdges[below(kEdges.size())];
    return static_cast<std::int64_t>(random_() >> below(64));
  }

  profile::RowIndex row_of(std::size_t size) { return static_cast<profile::RowIndex>(below(size)); }
  profile::RowIndex row_or_none(std::size_t size) {
    return below(4) == 0 ? profile::kNoRow : row_of(size);
  }
  profile::StringId name() { return row_of(trace_.strings.size()); }

  template <class Enum>
  Enum one_of(Enum last) {
    return static_cast<Enum>(below(static_cast<std::uint64_t>(last) + 1));
  }

  template <class Columns>
  void add_times(Columns& columns) {
    const std::int64_t a = below(10) == 0 ? any_integer() : static_cast<std::int64_t>(below(1000));
    const std::int64_t b = below(10) == 0 ? any_integer() : static_cast<std::int64_t>(below(1000));
    columns.start_ns.push_back(std::min(a, b));
    columns.end_ns.push_back(std::max(a, b));
  }

  void add_strings() {
    trace_.intern("kernel<float, 4>(\"quoted\")");
    trace_.intern(std::string("nul\0inside", 10));
    trace_.intern("not UTF-8: \xff\xfe\xc3");
    trace_.intern("line\nbreak");
    trace_.intern("Größe 核");
    trace_.intern(std::string(100'000, 'x'));
    for (std::size_t i = some(); i > 0; --i) trace_.intern("name " + std::to_string(i));
  }

  void add_dimensions() {
    for (std::size_t i = 0; i < 3; ++i) {
      trace_.processes.push_back({any_integer(), any_integer(), name(), name(), name()});
    }
    for (std::size_t i = some(); i > 0; --i) {
      trace_.threads.push_back({row_of(3), any_integer(), any_integer(), name()});
      trace_.quality.push_back({row_or_none(3), name(), any_integer(), name()});
      trace_.devices.push_back({any_integer(), name(), name(), name(), row_or_none(3), name(),
                                any_integer(), any_integer(), any_integer(), any_integer()});
      profile::LaunchConfig config;
      for (auto* extent : {&config.grid, &config.block, &config.cluster}) {
        for (std::int64_t& size : *extent) size = any_integer();
      }
      config.registers_per_thread = any_integer();
      config.static_shared_bytes = any_integer();
      config.dynamic_shared_bytes = any_integer();
      config.local_bytes_per_thread = any_integer();
      trace_.launch_configs.push_back(config);
    }
    for (std::size_t i = some(); i > 0; --i) {
      trace_.contexts.push_back({row_of(3), row_of(trace_.devices.size()), any_integer()});
      trace_.streams.push_back({row_of(trace_.contexts.size()), any_integer(),
                                one_of(profile::StreamKind::per_thread), any_integer()});
    }
  }

  void add_host_events() {
    for (std::size_t i = some(); i > 0; --i) {
      add_times(trace_.api_calls);
      trace_.api_calls.name.push_back(name());
      trace_.api_calls.thread.push_back(row_of(trace_.threads.size()));
      trace_.api_calls.correlation.push_back(any_integer());
      trace_.api_calls.kind.push_back(one_of(profile::ApiKind::driver));
      trace_.api_calls.result.push_back(any_integer());
    }
    for (std::size_t i = some(); i > 0; --i) {
      add_times(trace_.ranges);
      trace_.ranges.name.push_back(name());
      trace_.ranges.thread.push_back(row_of(trace_.threads.size()));
      trace_.ranges.kind.push_back(one_of(profile::RangeKind::python_function));
      trace_.ranges.domain.push_back(name());
      trace_.ranges.external_id.push_back(any_integer());
      trace_.ranges.category.push_back(name());
      trace_.ranges.color.push_back(any_integer());
    }
  }

  void add_graphs() {
    for (std::size_t i = some(); i > 0; --i) {
      trace_.graph_nodes.push_back({row_or_none(3), any_integer(), any_integer(), name(),
                                    row_or_none(trace_.ranges.size()),
                                    row_or_none(trace_.api_calls.size())});
    }
    for (std::size_t i = some(); i > 0; --i) {
      trace_.graph_edges.push_back(
          {row_of(trace_.graph_nodes.size()), row_of(trace_.graph_nodes.size())});
    }
  }

  void add_activity(profile::ActivityColumns& work) {
    add_times(work);
    work.name.push_back(name());
    work.stream.push_back(row_of(trace_.streams.size()));
    work.launch.push_back(row_or_none(trace_.api_calls.size()));
    work.correlation.push_back(any_integer());
    work.graph_node.push_back(row_or_none(trace_.graph_nodes.size()));
    work.op.push_back(row_or_none(trace_.ranges.size()));
    work.sequence.push_back(below(5) == 0 ? std::numeric_limits<std::uint32_t>::max()
                                          : static_cast<std::uint32_t>(random_()));
  }

  void add_kernels() {
    for (std::size_t i = 5 * some(); i > 0; --i) {
      add_activity(trace_.kernels);
      trace_.kernels.launch_config.push_back(row_or_none(trace_.launch_configs.size()));
    }
  }

  void add_copies() {
    for (std::size_t i = some(); i > 0; --i) {
      add_activity(trace_.copies);
      trace_.copies.bytes.push_back(any_integer());
      trace_.copies.kind.push_back(one_of(profile::CopyKind::device_to_array));
      trace_.copies.source_memory.push_back(one_of(profile::MemoryKind::device_static));
      trace_.copies.target_memory.push_back(one_of(profile::MemoryKind::device_static));
    }
  }

  void add_fills() {
    for (std::size_t i = some(); i > 0; --i) {
      add_activity(trace_.fills);
      trace_.fills.bytes.push_back(any_integer());
      trace_.fills.memory.push_back(one_of(profile::MemoryKind::device_static));
    }
  }

  void add_syncs() {
    profile::SyncColumns& syncs = trace_.syncs;
    for (std::size_t i = some(); i > 0; --i) {
      add_times(syncs);
      syncs.kind.push_back(one_of(profile::SyncKind::context));
      syncs.device.push_back(row_or_none(trace_.devices.size()));
      syncs.stream.push_back(row_or_none(trace_.streams.size()));
      syncs.event_stream.push_back(row_or_none(trace_.streams.size()));
      syncs.event_record.push_back(row_or_none(trace_.api_calls.size()));
      syncs.call.push_back(row_or_none(trace_.api_calls.size()));
      syncs.correlation.push_back(any_integer());
      syncs.event_id.push_back(any_integer());
    }
  }

  void add_cuda_events() {
    profile::CudaEventColumns& events = trace_.cuda_events;
    for (std::size_t i = some(); i > 0; --i) {
      events.event_id.push_back(any_integer());
      events.stream.push_back(row_of(trace_.streams.size()));
      events.call.push_back(row_or_none(trace_.api_calls.size()));
      events.correlation.push_back(any_integer());
      events.time_ns.push_back(any_integer());
    }
  }

  void add_overheads() {
    profile::OverheadColumns& overheads = trace_.overheads;
    for (std::size_t i = some(); i > 0; --i) {
      add_times(overheads);
      overheads.kind.push_back(name());
      overheads.process.push_back(row_or_none(trace_.processes.size()));
      overheads.thread.push_back(row_or_none(trace_.threads.size()));
    }
  }

  void add_memory_events() {
    profile::MemoryEventColumns& memory = trace_.memory_events;
    for (std::size_t i = some(); i > 0; --i) {
      memory.time_ns.push_back(any_integer());
      memory.thread.push_back(row_or_none(trace_.threads.size()));
      memory.device.push_back(row_or_none(trace_.devices.size()));
      memory.bytes.push_back(any_integer());
      memory.address.push_back(random_());
      memory.total_allocated.push_back(any_integer());
      memory.total_reserved.push_back(any_integer());
      memory.memory.push_back(one_of(profile::MemoryKind::device_static));
      memory.stream.push_back(row_or_none(trace_.streams.size()));
      memory.call.push_back(row_or_none(trace_.api_calls.size()));
      memory.pool.push_back(random_());
      memory.source.push_back(name());
      memory.correlation.push_back(any_integer());
    }
  }

  void add_collectives() {
    profile::CollectiveColumns& collectives = trace_.collectives;
    for (std::size_t i = some(); i > 0; --i) {
      collectives.kernel.push_back(row_of(trace_.kernels.size()));
      collectives.communicator.push_back(name());
      collectives.operation.push_back(name());
      collectives.dtype.push_back(name());
      collectives.elements_in.push_back(any_integer());
      collectives.elements_out.push_back(any_integer());
      collectives.bytes.push_back(any_integer());
      collectives.range.push_back(row_or_none(trace_.ranges.size()));
      collectives.group_size.push_back(any_integer());
      collectives.ranks.push_back(name());
    }
  }

  /// What only our own recordings hold: whatever column a table has is filled by its role.
  void add_recording() {
    for (std::size_t i = some(); i > 0; --i) {
      const std::size_t parents = trace_.stack_frames.size();
      trace_.stack_frames.push_back(
          {parents == 0 ? profile::kNoRow : row_or_none(parents), name(), name(), any_integer()});
      trace_.counter_metrics.push_back({name(), name(), name()});
    }
    fill(trace_.graph_launches);
    fill(trace_.memory_pool_events);
    fill(trace_.migrations);
    fill(trace_.range_payloads);
    fill(trace_.call_stacks);
    fill(trace_.modules);
    fill(trace_.gpu_samples);
    fill(trace_.thread_samples);
    fill(trace_.counter_samples);
    fill(trace_.windows);
    fill(trace_.capture_events);
    fill(trace_.clock_pairs);
  }

  template <class Table>
  void fill(Table& table) {
    for (std::size_t i = some(); i > 0; --i) {
      profile::visit_columns(table, [this](const char*, auto& column, profile::ColumnRole role) {
        using Value = typename std::decay_t<decltype(column)>::value_type;
        column.push_back(this->template value_of<Value>(role));
      });
      if constexpr (requires { table.end_ns; }) {
        table.start_ns.pop_back();
        table.end_ns.pop_back();
        add_times(table);
      }
    }
  }

  template <class Value>
  Value value_of(profile::ColumnRole role) {
    if constexpr (std::is_same_v<Value, profile::RowIndex>) {
      if (role == profile::ColumnRole::string) return name();
      if (role == profile::ColumnRole::value) return static_cast<Value>(random_());
      return row_of(smallest_table());
    } else if constexpr (std::is_enum_v<Value>) {
      return static_cast<Value>(below(4));  // no enum here has fewer values
    } else if constexpr (std::is_same_v<Value, double>) {
      return below(2) == 0 ? -0.5 : static_cast<double>(random_());
    } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
      return random_();
    } else {
      return any_integer();
    }
  }

  /// Rows that every table has.
  std::size_t smallest_table() const {
    return std::min({trace_.processes.size(), trace_.threads.size(), trace_.devices.size(),
                     trace_.streams.size(), trace_.api_calls.size(), trace_.ranges.size(),
                     trace_.graph_nodes.size(), trace_.kernels.size(), trace_.stack_frames.size(),
                     trace_.counter_metrics.size()});
  }

  std::mt19937_64 random_;
  profile::Trace trace_;
};

inline profile::Trace random_trace(std::uint64_t seed) {
  return RandomTrace(seed).make();
}

}  // namespace gprofml::test
