// The event tables of a trace: one structure of arrays a kind of event, all arrays of one table of
// equal length, one row an event.
//
//   kernel, copy, fill   work on a GPU            api_call   the CUDA call that caused it
//   range                a named host interval    sync       what a synchronisation waited for
//   memory_event         allocations and frees    collective what a communication kernel moved
//   cuda_event           an event put on a stream overhead   time that recording itself took
//
// A row refers to another table by row number (RowIndex), kNoRow where there is none or it is not
// known. Names are StringIds of the trace's StringTable.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "libprofile/trace/string_table.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// Row number in another table of the same trace.
using RowIndex = std::uint32_t;
inline constexpr RowIndex kNoRow = std::numeric_limits<RowIndex>::max();

/// "Not recorded" for ids and sizes taken from a source (correlation ids, bytes, ordinals).
inline constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::min();

/// What all work on a GPU has in common.
struct ActivityColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<StringId> name;
  std::vector<RowIndex> stream;           ///< row of Trace::streams, always valid
  std::vector<RowIndex> launch;           ///< row of Trace::api_calls; kNoRow: no launch record
  std::vector<std::int64_t> correlation;  ///< as recorded; kUnknown: none
  std::vector<RowIndex> graph_node;       ///< row of Trace::graph_nodes; kNoRow: not in a graph
  std::vector<RowIndex> op;             ///< row of Trace::ranges the source itself names as origin
  std::vector<std::uint32_t> sequence;  ///< position among all GPU work of its source

  std::size_t size() const { return start_ns.size(); }
};

struct KernelColumns : ActivityColumns {
  std::vector<RowIndex> launch_config;  ///< row of Trace::launch_configs; kNoRow: not recorded
};

enum class CopyKind : std::uint8_t {
  unknown,
  host_to_device,
  device_to_host,
  device_to_device,
  host_to_host,
  peer_to_peer,
  host_to_array,
  array_to_host,
  array_to_array,
  array_to_device,
  device_to_array
};

enum class MemoryKind : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static
};

struct CopyColumns : ActivityColumns {
  std::vector<std::int64_t> bytes;  ///< kUnknown: not recorded
  std::vector<CopyKind> kind;
  std::vector<MemoryKind> source_memory;
  std::vector<MemoryKind> target_memory;
};

struct FillColumns : ActivityColumns {
  std::vector<std::int64_t> bytes;  ///< kUnknown: not recorded
  std::vector<MemoryKind> memory;
};

enum class ApiKind : std::uint8_t { runtime, driver };

/// Calls into the CUDA or HIP runtime or driver.
struct ApiCallColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<StringId> name;             ///< as recorded, with prefix and ABI suffix
  std::vector<RowIndex> thread;           ///< row of Trace::threads, always valid
  std::vector<std::int64_t> correlation;  ///< kUnknown: none
  std::vector<ApiKind> kind;
  std::vector<std::int64_t> result;  ///< what it returned, 0: success; kUnknown: not recorded

  std::size_t size() const { return start_ns.size(); }
};

enum class RangeKind : std::uint8_t {
  op,  ///< a framework operator (Kineto cpu_op, Operator): it runs code, so it covers host time
  annotation,       ///< a named interval a user or framework set (user_annotation, ProfilerStep#)
  push_pop,         ///< NVTX range of one thread
  start_end,        ///< NVTX range that may cross threads; one of no length is a mark
  python_function,  ///< a Python stack frame
};

/// Named host intervals. Only `op` rows run code of their own; all others say what was going on.
struct RangeColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<StringId> name;
  std::vector<RowIndex> thread;  ///< row of Trace::threads, always valid
  std::vector<RangeKind> kind;
  std::vector<StringId> domain;           ///< NVTX domain; 0: none
  std::vector<std::int64_t> external_id;  ///< Kineto "External id"; kUnknown: none

  std::size_t size() const { return start_ns.size(); }
};

enum class SyncKind : std::uint8_t { unknown, stream, event, stream_wait_event, context };

/// What a synchronising call waited for, as the driver recorded it. Not GPU work.
struct SyncColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<SyncKind> kind;
  std::vector<RowIndex> device;  ///< row of Trace::devices; kNoRow: not recorded
  std::vector<RowIndex>
      stream;  ///< stream that waits, or that is waited for; kNoRow: none recorded
  std::vector<RowIndex>
      event_stream;  ///< stream on which the awaited event was recorded; kNoRow: unknown
  std::vector<RowIndex>
      event_record;            ///< row of Trace::api_calls, the cudaEventRecord; kNoRow: unknown
  std::vector<RowIndex> call;  ///< row of Trace::api_calls, the synchronising call; kNoRow: unknown
  std::vector<std::int64_t> correlation;
  std::vector<std::int64_t> event_id;

  std::size_t size() const { return start_ns.size(); }
};

/// CUDA events put on a stream, each time anew.
struct CudaEventColumns {
  std::vector<std::int64_t> event_id;
  std::vector<RowIndex> stream;  ///< row of Trace::streams, always valid
  std::vector<RowIndex> call;    ///< row of Trace::api_calls, the cudaEventRecord; kNoRow: unknown
  std::vector<std::int64_t> correlation;
  std::vector<Nanoseconds> time_ns;  ///< when the GPU reached it; kUnknown: not recorded

  std::size_t size() const { return event_id.size(); }
};

/// Time that recording itself took.
struct OverheadColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<StringId> kind;     ///< what took it
  std::vector<RowIndex> process;  ///< row of Trace::processes; kNoRow: not one process's
  std::vector<RowIndex> thread;   ///< row of Trace::threads; kNoRow: not one thread's

  std::size_t size() const { return start_ns.size(); }
};

/// Allocations (bytes > 0) and frees (bytes < 0).
struct MemoryEventColumns {
  std::vector<Nanoseconds> time_ns;
  std::vector<RowIndex> thread;
  std::vector<RowIndex> device;  ///< kNoRow: host memory
  std::vector<std::int64_t> bytes;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> total_allocated;  ///< kUnknown: not recorded
  std::vector<std::int64_t> total_reserved;   ///< kUnknown: not recorded

  std::size_t size() const { return time_ns.size(); }
};

/// What a communication kernel said it moved. Elements, not bytes: the source counts so.
struct CollectiveColumns {
  std::vector<RowIndex> kernel;  ///< row of Trace::kernels, always valid
  std::vector<StringId> communicator;
  std::vector<StringId> operation;
  std::vector<StringId> dtype;
  std::vector<std::int64_t> elements_in;
  std::vector<std::int64_t> elements_out;
  std::vector<std::int64_t> group_size;
  std::vector<StringId> ranks;

  std::size_t size() const { return kernel.size(); }
};

}  // namespace gprofml::profile
