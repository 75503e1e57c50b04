// The event tables of a trace: one structure of arrays a kind of event, all arrays of one table of
// equal length, one row an event.
//
//   kernel, copy, fill   work on a GPU            api_call   the CUDA call that caused it
//   range                a named host interval    sync       what a synchronisation waited for
//   graph_launch         a CUDA graph as a whole, where its nodes are not recorded
//   memory_event         allocations and frees    collective what a communication kernel moved
//   memory_pool_event    a pool made, trimmed …   migration  managed memory that moved, or faulted
//   cuda_event           an event put on a stream overhead   time that recording itself took
//   range_payload        values given to a range  call_stack who called
//   gpu_sample, thread_sample  the machine        counter_sample  numbers over time
//   window               what was recorded        capture_event   what the recorder did
//   clock_pair           one moment, many clocks  module     a file mapped into a process
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

/// CUDA graphs launched as a whole, where their nodes are not recorded (`--graphs whole`, level 0).
/// `graph_node` is kNoRow.
struct GraphLaunchColumns : ActivityColumns {
  std::vector<std::int64_t> graph_id;  ///< kUnknown: not recorded
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
  std::vector<StringId> category;         ///< NVTX category; 0: none
  std::vector<std::int64_t> color;        ///< NVTX colour, 0xAARRGGBB; kUnknown: none

  std::size_t size() const { return start_ns.size(); }
};

/// Values that a program attached to a range (NVTX payloads), as text, with the names of its
/// schema.
struct RangePayloadColumns {
  std::vector<RowIndex> range;  ///< row of Trace::ranges, always valid
  std::vector<StringId> key;
  std::vector<StringId> value;

  std::size_t size() const { return range.size(); }
};

/// Where a call came from: for a CUDA call, or for a node of a graph when it was captured.
struct CallStackColumns {
  std::vector<RowIndex> call;        ///< row of Trace::api_calls; kNoRow: of a graph node
  std::vector<RowIndex> graph_node;  ///< row of Trace::graph_nodes; kNoRow: of a call
  std::vector<RowIndex> frame;       ///< row of Trace::stack_frames, the innermost; always valid

  std::size_t size() const { return call.size(); }
};

/// A file mapped into a process: program, libraries.
struct ModuleColumns {
  std::vector<RowIndex> process;  ///< row of Trace::processes, always valid
  std::vector<StringId> path;
  std::vector<StringId> build_id;   ///< hexadecimal; 0: none
  std::vector<std::uint64_t> base;  ///< where its first byte is mapped
  std::vector<std::int64_t> bytes;  ///< mapped, over all its parts

  std::size_t size() const { return process.size(); }
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
  std::vector<RowIndex> thread;  ///< row of Trace::threads; kNoRow: unknown
  std::vector<RowIndex> device;  ///< kNoRow: host memory
  std::vector<std::int64_t> bytes;
  std::vector<std::uint64_t> address;
  std::vector<std::int64_t> total_allocated;  ///< kUnknown: not recorded
  std::vector<std::int64_t> total_reserved;   ///< kUnknown: not recorded
  std::vector<MemoryKind> memory;
  std::vector<RowIndex> stream;     ///< row of Trace::streams, in the order of which it happens;
                                    ///< kNoRow: at once
  std::vector<RowIndex> call;       ///< row of Trace::api_calls; kNoRow: unknown
  std::vector<std::uint64_t> pool;  ///< address of the pool it is from; 0: none
  std::vector<StringId> source;     ///< the library that asked for it; 0: not recorded
  std::vector<std::int64_t> correlation;

  std::size_t size() const { return time_ns.size(); }
};

enum class PoolOperation : std::uint8_t { unknown, created, destroyed, trimmed };

/// What happened to pools of memory (cudaMemPool_t), and how full they were then.
struct MemoryPoolEventColumns {
  std::vector<Nanoseconds> time_ns;
  std::vector<RowIndex> process;  ///< row of Trace::processes; kNoRow: unknown
  std::vector<RowIndex> device;   ///< kNoRow: unknown
  std::vector<PoolOperation> operation;
  std::vector<std::uint64_t> pool;                    ///< its address, as memory events name it
  std::vector<std::int64_t> bytes;                    ///< it holds; kUnknown: not recorded
  std::vector<std::int64_t> used_bytes;               ///< of them given out
  std::vector<std::int64_t> release_threshold_bytes;  ///< it keeps as many when trimmed

  std::size_t size() const { return time_ns.size(); }
};

enum class MigrationKind : std::uint8_t {
  unknown,
  host_to_device,  ///< bytes moved
  device_to_host,
  device_to_device,
  cpu_fault,  ///< page faults, counted
  gpu_fault,
  thrashing,
  throttling,
  remote_map
};

/// Managed memory on the move: transfers and faults. Not GPU work: it happens beside it.
struct MigrationColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<MigrationKind> kind;
  std::vector<RowIndex> source_device;  ///< kNoRow: the host, or unknown
  std::vector<RowIndex> target_device;
  std::vector<std::int64_t> value;  ///< bytes of a transfer, number of faults
  std::vector<std::uint64_t> address;

  std::size_t size() const { return start_ns.size(); }
};

/// The GPU, looked at from outside now and then (NVML). kUnknown: not told.
struct GpuSampleColumns {
  std::vector<Nanoseconds> time_ns;
  std::vector<RowIndex> device;  ///< row of Trace::devices, always valid
  std::vector<std::int64_t> sm_clock_mhz;
  std::vector<std::int64_t> memory_clock_mhz;
  std::vector<std::int64_t> power_mw;
  std::vector<std::int64_t> temperature_c;
  std::vector<std::int64_t> throttle_reasons;  ///< NVML's bit mask
  std::vector<std::int64_t> memory_used_bytes;
  std::vector<std::int64_t> busy_percent;       ///< NVML's "utilization.gpu"
  std::vector<std::int64_t> foreign_processes;  ///< that use the GPU and are not recorded here

  std::size_t size() const { return time_ns.size(); }
};

/// What a host thread did up to `time_ns`, since it began (Linux: schedstat). kUnknown: not told.
struct ThreadSampleColumns {
  std::vector<Nanoseconds> time_ns;
  std::vector<RowIndex> thread;           ///< row of Trace::threads, always valid
  std::vector<std::int64_t> on_cpu_ns;    ///< it ran
  std::vector<std::int64_t> runnable_ns;  ///< it could have run and waited for a CPU
  std::vector<std::int64_t> timeslices;   ///< times that it got a CPU
  std::vector<std::int64_t> last_cpu;

  std::size_t size() const { return time_ns.size(); }
};

/// Numbers over time: NVTX counters (of a thread's process), hardware counters (of a device).
struct CounterSampleColumns {
  std::vector<Nanoseconds> time_ns;
  std::vector<RowIndex> metric;   ///< row of Trace::counter_metrics, always valid
  std::vector<RowIndex> device;   ///< kNoRow: not of a device
  std::vector<RowIndex> process;  ///< kNoRow: not of a process
  std::vector<double> value;

  std::size_t size() const { return time_ns.size(); }
};

/// Intervals in which a process was recorded. A process without any was recorded all along.
struct WindowColumns {
  std::vector<Nanoseconds> start_ns;
  std::vector<Nanoseconds> end_ns;
  std::vector<RowIndex> process;  ///< row of Trace::processes, always valid
  std::vector<StringId> reason;   ///< what opened it: "range decode_step", "control", "budget" …

  std::size_t size() const { return start_ns.size(); }
};

/// What the recorder did to itself: kinds switched off by the budget, a size limit reached, a clock
/// that was set.
struct CaptureEventColumns {
  std::vector<Nanoseconds> time_ns;
  std::vector<RowIndex> process;    ///< row of Trace::processes; kNoRow: all
  std::vector<StringId> kind;       ///< stable, snake_case
  std::vector<StringId> detail;     ///< a sentence
  std::vector<std::int64_t> value;  ///< what the kind says it is; kUnknown: none

  std::size_t size() const { return time_ns.size(); }
};

/// One moment on the clocks of a process. Times of the trace are on CUPTI's.
struct ClockPairColumns {
  std::vector<RowIndex> process;  ///< row of Trace::processes, always valid
  std::vector<Nanoseconds> realtime_ns;
  std::vector<Nanoseconds> monotonic_ns;
  std::vector<Nanoseconds> cupti_ns;        ///< kUnknown: no CUPTI
  std::vector<Nanoseconds> uncertainty_ns;  ///< between the first and the last look

  std::size_t size() const { return process.size(); }
};

/// What a communication call moved: elements or bytes, as the source counts.
struct CollectiveColumns {
  std::vector<RowIndex> kernel;  ///< row of Trace::kernels; kNoRow: none is known to be its
  std::vector<RowIndex> range;   ///< row of Trace::ranges, the call; kNoRow: unknown
  std::vector<StringId> communicator;
  std::vector<StringId> operation;
  std::vector<StringId> dtype;
  std::vector<std::int64_t> elements_in;
  std::vector<std::int64_t> elements_out;
  std::vector<std::int64_t> bytes;  ///< of the message; kUnknown: not recorded
  std::vector<std::int64_t> group_size;
  std::vector<StringId> ranks;

  std::size_t size() const { return kernel.size(); }
};

}  // namespace gprofml::profile
