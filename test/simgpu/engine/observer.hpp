// The seam between the simulated GPU and the CUPTI in front of it: what the engine tells about what
// the program asked for and what the GPU did. The engine knows nothing of CUPTI's records, buffers
// or subscribers, and the fake CUPTI decides nothing about time: that keeps the engine's own log
// (test truth) independent of what a profiler is told.
//
// The engine computes ahead: when an activity is submitted its start and end are known at once, on
// the virtual clock and on the wall clock. Observers are therefore called at submission; whether
// the activity "has finished by now" is a question of the clock (`finished_by`).
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::simgpu {

/// A call into the runtime or driver, at its entry (end_ns is 0) and at its exit. A runtime call
/// does its work through driver calls: those are nested, with the same correlation id.
struct ApiCall {
  enum class Domain : std::uint8_t { runtime, driver };
  Domain domain = Domain::runtime;
  std::uint32_t callback_id = 0;  ///< CUpti_runtime_api_trace_cbid or CUpti_driver_api_trace_cbid
  const char* name = nullptr;     ///< as in cuptiGetCallbackName: "cudaLaunchKernel_v7000"
  const void* parameters = nullptr;  ///< the *_params struct of generated_*_meta.h, or nullptr
  const char* symbol = nullptr;      ///< kernel name of a launch, else nullptr
  std::uint32_t correlation = 0;
  std::uint32_t tid = 0;        ///< gettid()
  std::uint64_t pthread = 0;    ///< pthread_self()
  CUcontext context = nullptr;  ///< nullptr: none is current yet
  std::uint32_t context_id = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t result = 0;  ///< cudaError_t or CUresult, valid at exit
};

/// Where and from which call an activity ran.
struct Placement {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t device = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t correlation = 0;
  std::uint32_t graph_id = 0;  ///< of the executable graph; 0: not launched by a graph
  std::uint64_t graph_node_id = 0;
};

struct Kernel {
  Placement at;
  const char* name = nullptr;   ///< mangled; lives as long as the process
  std::uint32_t module_id = 0;  ///< where the kernel comes from
  std::int32_t grid[3] = {1, 1, 1};
  std::int32_t block[3] = {1, 1, 1};
  std::int32_t cluster[3] = {0, 0, 0};
  std::int32_t registers_per_thread = 0;
  std::int32_t static_shared_bytes = 0;
  std::int32_t dynamic_shared_bytes = 0;
  std::uint32_t local_bytes_per_thread = 0;
  std::int64_t submitted_ns = 0;
};

enum class Memory : std::uint8_t {
  unknown,
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static
};
enum class CopyKind : std::uint8_t {
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

struct Copy {
  Placement at;
  CopyKind kind = CopyKind::host_to_device;
  Memory source = Memory::unknown;
  Memory target = Memory::unknown;
  bool asynchronous = false;
  std::uint64_t bytes = 0;
  std::uint32_t source_device = 0;  ///< peer copies
  std::uint32_t target_device = 0;
  std::uint32_t source_context_id = 0;
  std::uint32_t target_context_id = 0;
};

struct Fill {
  Placement at;
  Memory memory = Memory::device;
  bool asynchronous = false;
  std::uint64_t bytes = 0;
  std::uint32_t value = 0;
};

/// What a call waited for on the host, or (stream_wait_event) made a stream wait for.
struct Sync {
  enum class Type : std::uint8_t { event, stream_wait_event, stream, context };
  Type type = Type::stream;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t correlation = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0xffffffff;
  std::uint32_t event_id = 0xffffffff;
  std::uint64_t event_sync_id = ~std::uint64_t{0};  ///< of the latest record of the event
  std::uint32_t result = 0;
};

/// An event put on a stream.
struct EventRecord {
  std::uint32_t correlation = 0;
  std::uint32_t device = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t event_id = 0;
  std::uint64_t event_sync_id = 0;  ///< unique per record
  std::int64_t time_ns = 0;         ///< when the GPU reaches it
};

/// A pool of stream-ordered memory, as the calls that were made so far leave it.
struct PoolState {
  std::uint64_t address = 0;  ///< which pool it is; nothing lies there. 0: no pool
  std::uint64_t size = 0;     ///< bytes that it holds of the device
  std::uint64_t used = 0;     ///< bytes that are allocated from it
  std::uint64_t release_threshold = 0;
};

/// Memory that a call gave to the program or took back.
struct MemoryOperation {
  enum class What : std::uint8_t { allocated, released };
  What what = What::allocated;
  Memory memory = Memory::device;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;   ///< as asked for
  std::int64_t time_ns = 0;  ///< within the call, also where the stream comes to it later
  std::uint32_t correlation = 0;
  std::uint32_t device = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0xffffffff;  ///< of a stream-ordered operation
  bool asynchronous = false;
  PoolState pool;
};

struct PoolOperation {
  enum class What : std::uint8_t { created, destroyed, trimmed };
  What what = What::created;
  PoolState pool;
  std::uint64_t bytes_to_keep = 0;  ///< of a trim
  std::int64_t time_ns = 0;
  std::uint32_t correlation = 0;
  std::uint32_t device = 0;
};

/// One launch of an executable graph as a whole: from its first node's start to its last one's end,
/// on the stream that it was launched in. Told after its nodes.
struct GraphLaunch {
  Placement at;  ///< without a node
};

/// Pages of managed memory that moved between the host and a device.
struct Migration {
  enum class Cause : std::uint8_t { access, prefetch };
  bool to_device = true;
  Cause cause = Cause::access;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;  ///< to which or from which
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

/// A submission that waited for room in its stream's launch queue.
struct QueueFull {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t device = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t correlation = 0;
};

struct DeviceInfo {
  std::uint32_t ordinal = 0;
  CUdevice handle = 0;
  std::string name;
  std::uint8_t uuid[16] = {};
  std::uint64_t memory_bytes = 0;
  std::uint32_t multiprocessors = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::uint32_t clock_khz = 0;
};

struct ContextInfo {
  std::uint32_t id = 0;
  CUcontext handle = nullptr;
  std::uint32_t device = 0;
  std::uint32_t null_stream_id = 0;
};

struct StreamInfo {
  enum class Flag : std::uint8_t { null_stream, blocking, non_blocking, per_thread };
  std::uint32_t context_id = 0;
  std::uint32_t id = 0;
  CUstream handle = nullptr;
  Flag flag = Flag::blocking;
  std::int32_t priority = 0;
  std::uint32_t correlation = 0;  ///< of the call that created it; 0: with the context
};

/// Something was made or is about to go; what is told by which members are set.
struct ResourceEvent {
  enum class What : std::uint8_t {
    context_created,
    context_destroy_starting,
    stream_created,
    stream_destroy_starting,
    module_loaded,
    module_unload_starting,
    graph_created,
    graph_cloned,
    graph_destroy_starting,
    graph_exec_created,
    graph_exec_destroy_starting,
    node_created,
    node_cloned,
    node_destroy_starting,
    dependency_created,
    dependency_destroy_starting
  };
  What what = What::context_created;
  const ApiCall* call = nullptr;  ///< the call in which it happened; nullptr: none
  const ContextInfo* context = nullptr;
  const StreamInfo* stream = nullptr;
  const void* module_handle = nullptr;
  std::uint32_t module_id = 0;
  // graphs: as CUpti_GraphData names them
  CUgraph graph = nullptr;
  CUgraph original_graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphNode original_node = nullptr;
  CUgraphNode dependency = nullptr;
  CUgraphNodeType node_type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphExec graph_exec = nullptr;
};

/// Implemented by the fake CUPTI. Called on the thread that makes the CUDA call, without any lock
/// of the engine held, so that a callback may ask the engine questions. Never throws.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual bool is_in_use() const = 0;  ///< whether somebody would miss what it is told
  virtual void api_enter(const ApiCall& call) = 0;
  virtual void api_exit(const ApiCall& call) = 0;
  virtual void submitted(const Kernel& kernel) = 0;
  virtual void submitted(const Copy& copy) = 0;
  virtual void submitted(const Fill& fill) = 0;
  virtual void recorded(const EventRecord& event) = 0;
  virtual void synchronised(const Sync& sync) = 0;
  virtual void changed(const MemoryOperation& operation) = 0;
  virtual void changed(const PoolOperation& operation) = 0;
  virtual void launched(const GraphLaunch& launch) = 0;
  virtual void migrated(const Migration& migration) = 0;
  virtual void waited(const QueueFull& wait) = 0;
  virtual void resource(const ResourceEvent& event) = 0;
};

/// One observer at a time; nullptr takes it away. The fake CUPTI sets itself when it is loaded.
void set_observer(Observer* observer);
Observer* current_observer();

// --- what an observer may ask the engine -------------------------------------------------------

/// Now, for the calling thread: its virtual time, or CLOCK_REALTIME. Does not advance anything.
std::int64_t now_ns();

/// Whether the process as a whole has come to `end_ns`: on the virtual clock the latest of its
/// threads' times, else CLOCK_REALTIME.
bool finished_by_now(std::int64_t end_ns);

/// Whether this process runs on the virtual clock.
bool clock_is_virtual();

std::vector<DeviceInfo> devices();
std::vector<ContextInfo> contexts();  ///< alive ones
std::vector<StreamInfo> streams();    ///< alive ones

/// Ids behind handles; 0: no such thing.
std::uint32_t context_id_of(CUcontext context);
std::uint32_t stream_id_of(CUcontext context, CUstream stream, bool per_thread_default);
std::uint32_t graph_id_of(CUgraph graph);
std::uint32_t graph_exec_id_of(CUgraphExec graph_exec);
std::uint64_t graph_node_id_of(CUgraphNode node);

/// The real work behind cuInit once: reads the model, makes the devices, opens
/// CUDA_INJECTION64_PATH and calls InitializeInjection.
CUresult initialise();
bool is_initialised();

/// What CUPTI's own work costs the thread on which it is done; 0: nothing, and no record of it.
struct OverheadCosts {
  std::int64_t buffer_request_ns = 0;
  std::int64_t buffer_flush_ns = 0;
};
OverheadCosts overhead_costs();

/// The calling thread spends this time, on either clock.
void spend(std::int64_t cost_ns);

/// A value of the model file, for faults of the fake CUPTI: faults.<name>; nullptr: not set.
const char* fault(const char* name);

}  // namespace gprofml::simgpu
