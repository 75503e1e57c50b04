// Which column of run.db holds which member of Trace, and how: the one list that writer and reader
// both walk.
//
//   TableBinding "kernel" ── ColumnBinding "start_ns" ──► Trace::kernels.start_ns[row]
//                         └─ ColumnBinding "stream"   ──► Trace::kernels.stream[row], below size of
//                         `stream`
//   TableBinding "device" ── ColumnBinding "uuid"     ──► Trace::devices[row].uuid
//
// A value is found at data() + row * stride; columns of structs and structs in a vector are alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile::detail {

/// Tables in the order they are written and read: each refers only to tables before it.
enum class TableId : std::uint8_t {
  string,
  process,
  thread,
  device,
  context,
  stream,
  launch_config,
  quality,
  api_call,
  range,
  graph_node,
  graph_edge,
  kernel,
  copy,
  fill,
  sync,
  cuda_event,
  overhead,
  memory_event,
  collective,
  graph_launch,
  memory_pool_event,
  migration,
  range_payload,
  stack_frame,
  call_stack,
  module,
  gpu_sample,
  thread_sample,
  counter_metric,
  counter_sample,
  window,
  capture_event,
  clock_pair,
  none
};

/// One column of a table and the values behind it.
struct ColumnBinding {
  std::string_view name;
  std::uint8_t bytes = 8;  ///< size of a value in memory: 1, 4 or 8
  bool is_real = false;    ///< a double; else an integer
  bool nullable = false;   ///< NULL stands for `null_bits`
  std::uint64_t null_bits = 0;
  TableId target = TableId::none;  ///< the table whose row it names: values lie below its size
  std::uint64_t limit = 0;         ///< without a target, and under 8 bytes: values lie below
  bool may_miss = false;           ///< added within schema version 1: older files lack it
  void* container = nullptr;       ///< the vector that holds the values
  std::byte* (*data)(void* container) = nullptr;
  std::size_t offset = 0;  ///< of the value in an element
  std::size_t stride = 0;  ///< size of an element

  std::byte* first() const { return data(container) + offset; }
};

/// A value of 1, 4 or 8 bytes as unsigned bits. Inline, since every value of a file passes here.
inline std::uint64_t load_value(const std::byte* from, std::uint8_t bytes) {
  if (bytes == 8) {
    std::uint64_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  if (bytes == 4) {
    std::uint32_t value;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  return static_cast<std::uint8_t>(*from);
}

/// The inverse of `load_value`.
inline void store_value(std::byte* to, std::uint8_t bytes, std::uint64_t value) {
  if (bytes == 8) {
    std::memcpy(to, &value, sizeof value);
  } else if (bytes == 4) {
    const auto narrow = static_cast<std::uint32_t>(value);
    std::memcpy(to, &narrow, sizeof narrow);
  } else {
    *to = static_cast<std::byte>(value);
  }
}

/// One table and the vectors behind it.
struct TableBinding {
  TableId id = TableId::none;
  std::string_view name;
  std::vector<ColumnBinding> columns;  ///< without `id`, which is the row number
  std::size_t rows = 0;                ///< when bound
  bool may_miss = false;               ///< added within schema version 1: older files lack it

  /// Makes every vector `rows` long.
  void resize(std::size_t rows_wanted) const;
  /// Lets every vector grow to `rows` without moving.
  void reserve(std::size_t rows_wanted) const;

  struct Storage {
    void* container;
    void (*resize)(void* container, std::size_t rows);
    /// Returns where the room begins and how many bytes it has.
    std::pair<void*, std::size_t> (*reserve)(void* container, std::size_t rows);
  };
  std::vector<Storage> storage;  ///< each vector once
};

/// All tables but `meta` and `string`, bound to `trace` for reading it or filling it.
std::vector<TableBinding> bind_tables(Trace& trace);

}  // namespace gprofml::profile::detail
