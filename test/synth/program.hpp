// A program that uses GPUs, as data: what each host thread does, and how long each piece takes.
// `run` (execution.hpp) executes it; changing a duration here and running again gives the true
// effect of the change, against which the analysis is judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::synth {

using profile::Nanoseconds;

enum class WorkKind : std::uint8_t { kernel, communication, copy, fill };

/// A stream of one device. Streams of different devices may have the same id.
struct StreamRef {
  int device = 0;
  int stream = 7;
  auto operator<=>(const StreamRef&) const = default;
};

/// One piece of work on a GPU. `communication` is a kernel that moves data between ranks; its name
/// must say so (nccl, all_reduce …), as nothing else in a trace does.
struct Work {
  WorkKind kind = WorkKind::kernel;
  std::string name;
  Nanoseconds duration_ns = 0;
  Nanoseconds start_delay_ns = 0;  ///< added to whatever the work had to wait for
  std::int64_t bytes = profile::kUnknown;
  profile::CopyKind copy_kind = profile::CopyKind::unknown;
  profile::MemoryKind source_memory = profile::MemoryKind::unknown;
  profile::MemoryKind target_memory =
      profile::MemoryKind::unknown;  ///< of a fill: the memory filled
  profile::LaunchConfig config;
};

/// The thread computes something without any CUDA call.
struct HostWork {
  Nanoseconds duration_ns = 0;
};

/// Opens a named range on the thread; takes no time.
struct BeginRange {
  profile::RangeKind kind = profile::RangeKind::op;
  std::string name;
};

/// Closes the innermost open range of the thread; takes no time.
struct EndRange {};

/// A call that puts one piece of work on a stream. With `waits` the call returns only after the
/// work has ended (a pageable copy).
struct Submit {
  std::string call_name = "cudaLaunchKernel";
  Nanoseconds call_ns = 0;
  StreamRef on;
  Work work;
  bool waits = false;
  Nanoseconds return_delay_ns = 0;  ///< with `waits`: added to Timing::sync_return_ns
};

/// A node of a CUDA graph. Nodes of one stream run in the order they are listed in; `after` are
/// indices of earlier nodes it also waits for.
struct GraphNodeWork {
  Work work;
  int stream = 7;  ///< on the device of the launch
  std::vector<std::size_t> after;
};

/// Launches a CUDA graph: its nodes start after all earlier work of the stream, and later work of
/// the stream starts after all its nodes.
struct LaunchGraph {
  std::string call_name = "cudaGraphLaunch";
  Nanoseconds call_ns = 0;
  StreamRef on;
  std::int64_t graph_id = 1;
  std::vector<GraphNodeWork> nodes;
};

struct RecordEvent {
  Nanoseconds call_ns = 0;
  StreamRef on;
  int event = 0;
};

/// Later work of the stream waits for the last record of the event made before this call; without
/// one it waits for nothing, as in CUDA.
struct StreamWaitEvent {
  Nanoseconds call_ns = 0;
  StreamRef on;
  int event = 0;
};

enum class SyncScope : std::uint8_t { stream, event, device };

/// Waits for all work of a stream or a device, or for an event, submitted before the call.
struct Synchronise {
  SyncScope scope = SyncScope::device;
  Nanoseconds call_ns = 0;          ///< duration when there is nothing to wait for
  StreamRef on;                     ///< scope stream; of scope device the device counts
  int event = 0;                    ///< scope event
  Nanoseconds return_delay_ns = 0;  ///< added to Timing::sync_return_ns
};

/// A runtime call that submits nothing and waits for nothing (cudaMalloc, cudaGetDevice …).
struct PlainCall {
  std::string name = "cudaMalloc";
  Nanoseconds call_ns = 0;
};

/// A free: waits for all work of the device, without a synchronisation record.
struct FreeCall {
  std::string name = "cudaFree";
  Nanoseconds call_ns = 0;
  int device = 0;
  Nanoseconds return_delay_ns = 0;  ///< added to Timing::sync_return_ns
};

/// Hands over to whoever waits for `flag`; takes no time and leaves no record. One signal a flag.
struct Signal {
  int flag = 0;
};

/// Sleeps until `flag` is signalled; leaves no record.
struct WaitSignal {
  int flag = 0;
  Nanoseconds wake_delay_ns = 0;  ///< added to Timing::wake_ns
};

using Action = std::variant<HostWork, BeginRange, EndRange, Submit, LaunchGraph, RecordEvent,
                            StreamWaitEvent, Synchronise, PlainCall, FreeCall, Signal, WaitSignal>;

struct HostThread {
  std::int64_t tid = 0;
  std::string name;
  Nanoseconds start_ns = 0;  ///< after Program::begin_ns
  std::vector<Action> actions;
};

/// What the machine adds to the durations of the program.
struct Timing {
  Nanoseconds launch_latency_ns = 3500;  ///< start of the call to earliest start of its work
  Nanoseconds stream_gap_ns = 900;       ///< end of work to start of the next on its stream
  Nanoseconds event_gap_ns = 1300;       ///< end of a waited event's work to start of the waiter
  Nanoseconds graph_gap_ns = 700;        ///< between two nodes of one graph launch
  Nanoseconds sync_return_ns = 4200;     ///< end of waited work to return of the call
  Nanoseconds wake_ns = 7000;            ///< signal to the waiting thread running again
  Nanoseconds sync_record_margin_ns =
      150;  ///< a synchronisation's record inside its call, each side
};

/// All devices of a program are alike.
struct DeviceModel {
  std::string name = "NVIDIA H100 80GB HBM3";
  std::int64_t memory_bytes = 85029158912;
  std::int64_t multiprocessors = 132;
  std::int64_t compute_major = 9;
  std::int64_t compute_minor = 0;
};

struct Program {
  std::int64_t pid = 4100;
  DeviceModel device_model;
  Nanoseconds begin_ns = 1764597781000000000;  ///< when the first thread starts, Unix epoch
  Timing timing;
  std::vector<HostThread> threads;
};

/// The program's pieces of GPU work are numbered thread by thread, action by action, graph node by
/// graph node. This number is their identity in every function here and in Execution.
std::size_t work_count(const Program& program);
const Work& work_at(const Program& program, std::size_t index);

/// The program with another duration of one piece of GPU work. Throws std::out_of_range.
Program with_work_duration(Program program, std::size_t index, Nanoseconds duration_ns);

/// The program with another duration of one host action: of host work, or the `call_ns` of a call.
/// Throws std::out_of_range, and std::invalid_argument for an action that has no duration.
Program with_action_duration(Program program, std::size_t thread, std::size_t action,
                             Nanoseconds duration_ns);

/// The program with all durations, delays and machine times multiplied. Every time of its
/// execution, counted from begin_ns, is multiplied by the same factor.
Program scaled(Program program, std::int64_t factor);

}  // namespace gprofml::synth
