// Trace: everything that one recording, or one import, knows of what happened.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "libprofile/trace/columns.hpp"
#include "libprofile/trace/string_table.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// A traced process. A foreign file without process records is one process.
struct Process {
  std::int64_t pid = kUnknown;
  std::int64_t rank = kUnknown;  ///< rank in a distributed job
  StringId host = 0;
  StringId source = 0;  ///< file it was read from
  StringId command = 0;
  bool operator==(const Process&) const = default;
};

/// A host thread. `pid` is the operating system's process as recorded, which in a foreign file may
/// differ from the traced process the thread belongs to.
struct Thread {
  RowIndex process = kNoRow;
  std::int64_t pid = kUnknown;
  std::int64_t tid = kUnknown;
  StringId name = 0;
  bool operator==(const Thread&) const = default;
};

/// A physical GPU, or a MIG instance of one. Two processes that use one GPU share its row.
struct Device {
  std::int64_t ordinal = kUnknown;  ///< as its process numbers it
  StringId uuid = 0;
  StringId pci_bus = 0;
  StringId host = 0;
  RowIndex process = kNoRow;  ///< only where neither uuid nor PCI bus tell the device apart
  StringId name = 0;
  std::int64_t memory_bytes = kUnknown;
  std::int64_t multiprocessors = kUnknown;
  std::int64_t compute_major = kUnknown;
  std::int64_t compute_minor = kUnknown;
  bool operator==(const Device&) const = default;
};

struct Context {
  RowIndex process = kNoRow;
  RowIndex device = kNoRow;
  std::int64_t id = kUnknown;
  bool operator==(const Context&) const = default;
};

/// How a stream is ordered with the NULL stream of its context: all but `non_blocking` are.
enum class StreamKind : std::uint8_t { unknown, blocking, non_blocking, null_stream, per_thread };

struct Stream {
  RowIndex context = kNoRow;
  std::int64_t id = kUnknown;
  StreamKind flags = StreamKind::unknown;
  std::int64_t priority = kUnknown;
  bool operator==(const Stream&) const = default;
};

/// How a kernel was launched; kUnknown where the source does not say.
struct LaunchConfig {
  std::array<std::int64_t, 3> grid{kUnknown, kUnknown, kUnknown};
  std::array<std::int64_t, 3> block{kUnknown, kUnknown, kUnknown};
  std::array<std::int64_t, 3> cluster{kUnknown, kUnknown, kUnknown};
  std::int64_t registers_per_thread = kUnknown;
  std::int64_t static_shared_bytes = kUnknown;
  std::int64_t dynamic_shared_bytes = kUnknown;
  std::int64_t local_bytes_per_thread = kUnknown;
  auto operator<=>(const LaunchConfig&) const = default;
};

/// A node of a CUDA graph as its replays name it.
struct GraphNode {
  RowIndex process = kNoRow;
  std::int64_t graph_id = kUnknown;
  std::int64_t node_id = kUnknown;
  StringId type = 0;       ///< "kernel", "memcpy" …; 0: not recorded
  RowIndex op = kNoRow;    ///< row of Trace::ranges: innermost on the thread that made the node,
                           ///< or the node that this one is a copy of; kNoRow: none, or unknown
  RowIndex call = kNoRow;  ///< row of Trace::api_calls that made the node itself; kNoRow: unknown
  auto operator<=>(const GraphNode&) const = default;
};

/// Two nodes of one graph, rows of Trace::graph_nodes: `target` runs after `source`.
struct GraphEdge {
  RowIndex source = kNoRow;
  RowIndex target = kNoRow;
  auto operator<=>(const GraphEdge&) const = default;
};

/// A frame of call stacks, with all that called it: stacks share their outer frames. Calls name
/// their innermost frame.
struct StackFrame {
  RowIndex parent = kNoRow;  ///< row of Trace::stack_frames that called this one; kNoRow: outermost
  StringId function = 0;     ///< demangled; 0: not known
  StringId module = 0;       ///< file of program or library, or of a Python function; 0: not known
  std::int64_t offset = kUnknown;  ///< in the module, where the function is not known
  auto operator<=>(const StackFrame&) const = default;
};

/// What a counter sample counts.
struct CounterMetric {
  StringId name = 0;
  StringId unit = 0;
  StringId description = 0;
  auto operator<=>(const CounterMetric&) const = default;
};

/// One thing the reader or recorder wants known about the data: events it could not use, records
/// that were dropped. `code` is stable and machine-readable, `detail` is for people.
struct QualityNote {
  RowIndex process = kNoRow;
  StringId code = 0;
  std::int64_t count = 0;
  StringId detail = 0;
  bool operator==(const QualityNote&) const = default;
};

/// How well the time lines of host and GPU agree.
struct Clock {
  std::int64_t bound_ns = kUnknown;  ///< largest possible disagreement; kUnknown: not recorded
  bool operator==(const Clock&) const = default;
};

/// The data model of the project: dimension tables as vectors of structs, event tables as columns.
///
/// Invariants, checked by `first_inconsistency`: the columns of a table have equal length; every
/// row reference is kNoRow or in range (and in range where documented "always valid"); every
/// StringId is in range; ends are not before starts.
///
/// After `canonicalise` the row order depends only on the content: dimension tables ordered by
/// their identity, events by (start, end, …, position in the source), so two imports of the same
/// events in another order give the same trace wherever no two events tie in time.
struct Trace {
  StringTable strings;
  std::map<std::string, std::string> meta;  ///< tool, command line, host, settings, "simulated" …
  Clock clock;

  std::vector<Process> processes;
  std::vector<Thread> threads;
  std::vector<Device> devices;
  std::vector<Context> contexts;
  std::vector<Stream> streams;
  std::vector<LaunchConfig> launch_configs;
  std::vector<GraphNode> graph_nodes;
  std::vector<GraphEdge> graph_edges;
  std::vector<StackFrame> stack_frames;  ///< a frame stands behind its parent
  std::vector<CounterMetric> counter_metrics;
  std::vector<QualityNote> quality;

  KernelColumns kernels;
  CopyColumns copies;
  FillColumns fills;
  GraphLaunchColumns graph_launches;
  ApiCallColumns api_calls;
  RangeColumns ranges;
  SyncColumns syncs;
  CudaEventColumns cuda_events;
  OverheadColumns overheads;
  MemoryEventColumns memory_events;
  MemoryPoolEventColumns memory_pool_events;
  MigrationColumns migrations;
  CollectiveColumns collectives;
  RangePayloadColumns range_payloads;
  CallStackColumns call_stacks;
  ModuleColumns modules;
  GpuSampleColumns gpu_samples;
  ThreadSampleColumns thread_samples;
  CounterSampleColumns counter_samples;
  WindowColumns windows;
  CaptureEventColumns capture_events;
  ClockPairColumns clock_pairs;

  StringId intern(std::string_view text) { return strings.intern(text); }
  std::string_view text(StringId id) const { return strings.view(id); }

  RowIndex device_of_stream(RowIndex stream) const {
    return contexts[streams[stream].context].device;
  }
  RowIndex process_of_stream(RowIndex stream) const {
    return contexts[streams[stream].context].process;
  }
};

/// Puts all tables in canonical order (see Trace) and renumbers every reference.
void canonicalise(Trace& trace);

/// Resolves `launch` of all GPU work, `call` / `event_record` of synchronisations and `call` of
/// CUDA events and memory events from correlation ids, within each process. Of several calls with
/// one id the outermost that started last before the work is taken, or the first when none did (ids
/// are reused and wrap). `record_correlation[i]` is the correlation id of the cudaEventRecord that
/// sync row i awaited. Rows that carry no correlation id are left as they are.
void resolve_correlations(Trace& trace, const std::vector<std::int64_t>& record_correlation);

/// Appends `other` to `trace`: devices with the same identity (UUID, else host and PCI bus) become
/// one row, everything else is renumbered. Does not canonicalise.
void append(Trace& trace, const Trace& other);

/// The first broken invariant as a sentence that names table and row; nullopt when there is none.
std::optional<std::string> first_inconsistency(const Trace& trace);

}  // namespace gprofml::profile
