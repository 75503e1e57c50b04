// What handles stand for. All of it is guarded by the engine's lock (engine_lock.hpp); objects are
// never freed, only taken out of the registry, so that a stale handle is an error and no crash.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "test/simgpu/engine/model.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu {

struct Capture;
struct Context;
struct Graph;
struct GraphNode;
struct Stream;

/// Effects (see effects.hpp) that have not run yet, by number.
using Pending = std::vector<std::uint64_t>;

struct MemoryPool {
  std::uint32_t device = 0;
  std::uint64_t address = 0;   ///< its name for an observer
  std::uint64_t promised = 0;  ///< in use once the calls made so far have taken effect
  std::uint64_t promised_size = 0;
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
  std::uint64_t release_threshold = 0;
  int reuse_follow_event = 1, reuse_opportunistic = 1, reuse_internal = 1;
};

struct Device {
  std::uint32_t ordinal = 0;
  DeviceModel model;
  Context* primary = nullptr;
  int primary_references = 0;
  unsigned primary_flags = 0;
  std::uint64_t used_bytes = 0;
  MemoryPool default_pool;
  MemoryPool* pool = nullptr;                                  ///< the current one
  MemoryPool graph_pool;                                       ///< what nodes of graphs allocate
  std::vector<std::pair<std::int64_t, std::int64_t>> kernels;  ///< not over yet; contention.hpp
};

struct Context {
  std::uint32_t id = 0;
  Device* device = nullptr;
  bool is_primary = false;
  unsigned flags = 0;
  Stream* null_stream = nullptr;
  std::vector<Stream*> streams;      ///< alive ones, default streams included
  std::int64_t blocking_end_ns = 0;  ///< of work on streams that wait for the NULL stream
  std::int64_t busy_end_ns = 0;      ///< of all work
  std::set<Context*> peers;
  std::map<int, std::size_t> limits;
  int cache_config = 0;
};

struct Stream {
  std::uint32_t id = 0;
  Context* context = nullptr;
  StreamInfo::Flag flag = StreamInfo::Flag::blocking;
  int priority = 0;
  std::int64_t end_ns = 0;  ///< of what was put on it, waits included
  Pending pending;
  std::deque<std::int64_t> queued_ends_ns;         ///< with a launch queue of limited length
  std::map<const void*, std::uint64_t> instances;  ///< launches by kernel
  std::shared_ptr<Capture> capture;                ///< set while it is being captured
  std::vector<GraphNode*> capture_tail;
  std::map<int, CUlaunchAttributeValue> attributes;
};

struct Event {
  std::uint32_t id = 0;
  Context* context = nullptr;
  unsigned flags = 0;
  bool recorded = false;
  std::int64_t time_ns = 0;
  std::uint64_t record_id = ~std::uint64_t{0};
  std::uint32_t stream_id = 0;
  Pending pending;
  std::shared_ptr<Capture> capture;  ///< recorded in a capture: what it stands for there
  std::vector<GraphNode*> capture_nodes;
};

struct Module {
  std::uint32_t id = 0;
  bool is_library = false;
  std::map<std::string, struct Function*> functions;
  std::set<Context*> announced_in;
};

struct Function {
  const char* name = nullptr;  ///< mangled; for ever
  const KernelRule* rule = nullptr;
  Module* module = nullptr;
  int max_dynamic_shared = 48 * 1024;
  int shared_carveout = -1;
  int cache_config = 0;
  std::map<int, int> attributes;
};

/// A stretch of memory that pointers may point into.
struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  Memory kind = Memory::device;
  std::uint32_t device = 0;
  Context* context = nullptr;
  MemoryPool* pool = nullptr;
  unsigned flags = 0;
  bool registered = false;  ///< the program's own memory, registered
  std::uint64_t id = 0;
  unsigned sync_memops = 0;
  bool freeing = false;  ///< cuMemFreeAsync has been called
};

/// One thing that a stream or a graph node does.
struct Operation {
  enum class Kind : std::uint8_t {
    empty,
    kernel,
    copy,
    fill,
    host_function,
    event_record,
    event_wait,
    child_graph,
    allocate,
    release,
    conditional
  };
  Kind kind = Kind::empty;
  // kernel
  Function* function = nullptr;
  Kernel kernel;
  CUDA_KERNEL_NODE_PARAMS kernel_parameters{};
  std::map<int, CUlaunchAttributeValue> attributes;
  // copy, fill
  Copy copy;
  CUDA_MEMCPY3D copy_parameters{};
  Fill fill;
  CUDA_MEMSET_NODE_PARAMS fill_parameters{};
  std::int64_t duration_ns = 0;
  // copy, fill, host_function: what really happens
  std::function<void()> effect;
  CUDA_HOST_NODE_PARAMS host_parameters{};
  Event* event = nullptr;
  Graph* child = nullptr;
  // conditional; the nodes of an executable graph know their bodies by GraphNode::within
  std::vector<Graph*> bodies;
  CUgraphConditionalNodeType condition = CU_GRAPH_COND_TYPE_IF;
  unsigned condition_value = 0;  ///< at each launch
  // allocate, release
  std::uint64_t address = 0;
  CUDA_MEM_ALLOC_NODE_PARAMS allocation_parameters{};
};

struct GraphNode {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  Operation operation;
  std::vector<GraphNode*> dependencies;  ///< in the order in which they were added
  const GraphNode* original = nullptr;   ///< of a clone
  bool enabled = true;
  int lane = 0;                       ///< executable graphs: 0 is the launch stream
  const GraphNode* within = nullptr;  ///< executable graphs: the conditional node that runs it
  std::size_t body = 0;               ///< and of which of its bodies it is
};

struct Graph {
  std::uint32_t id = 0;
  std::vector<GraphNode*> nodes;
  std::uint32_t nodes_made = 0;
  bool is_executable = false;
};

struct GraphExec {
  Graph* clone = nullptr;  ///< its id is the executable graph's id
  const Graph* original = nullptr;
  std::uint64_t flags = 0;
  std::vector<std::uint32_t> lanes;  ///< stream ids of lanes 1, 2, ...
  Pending pending;
  std::int64_t end_ns = 0;
};

/// A stream capture in progress.
struct Capture {
  Graph* graph = nullptr;
  Stream* origin = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::uint64_t id = 0;
  std::uint32_t thread = 0;
  bool invalidated = false;
  bool to_existing_graph = false;
  std::set<Stream*> streams;
};

}  // namespace gprofml::simgpu
