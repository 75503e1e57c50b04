#include "test/simgpu/cupti/records.hpp"

#include <cupti.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/calls.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/external_correlation.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/kernel_names.hpp"
#include "test/simgpu/cupti/record_building.hpp"
#include "test/simgpu/cupti/selection.hpp"
#include "test/simgpu/cupti/translation.hpp"

namespace gprofml::simgpu::cupti {
namespace {

/// How long before its call an activity starts that the model wants to start too early.
constexpr std::int64_t kEarlyNs = 1000;

template <typename Record>
void set_times(Record& record, const Placement& at) {
  record.start = client_time(at.start_ns);
  record.end = client_time(at.end_ns);
  switch (next_times_fault()) {
    case TimesFault::none:
      break;
    case TimesFault::zero:
      record.start = 0;
      record.end = 0;
      break;
    case TimesFault::reversed:
      record.start = client_time(at.end_ns);
      record.end = client_time(at.start_ns);
      break;
    case TimesFault::early: {
      const std::uint64_t duration = record.end - record.start;
      record.start = client_time(start_of_outermost_call() - kEarlyNs);
      record.end = record.start + duration;
      break;
    }
  }
}

/// The members that every GPU activity has under the same name.
template <typename Record>
void place(Record& record, const Placement& at) {
  record.deviceId = at.device;
  record.contextId = at.context_id;
  record.streamId = at.stream_id;
  record.correlationId = at.correlation;
  record.graphNodeId = at.graph_node_id;
  record.graphId = at.graph_id;
  record.channelID = at.stream_id;  // a channel a stream: enough for streams to overlap
  set_times(record, at);
}

std::int64_t next_grid_id() {
  static std::atomic<std::int64_t> last{0};
  return ++last;
}

void shape(CUpti_ActivityKernel10& record, const Kernel& kernel) {
  record.gridX = kernel.grid[0];
  record.gridY = kernel.grid[1];
  record.gridZ = kernel.grid[2];
  record.blockX = kernel.block[0];
  record.blockY = kernel.block[1];
  record.blockZ = kernel.block[2];
  record.clusterX = static_cast<std::uint32_t>(kernel.cluster[0]);
  record.clusterY = static_cast<std::uint32_t>(kernel.cluster[1]);
  record.clusterZ = static_cast<std::uint32_t>(kernel.cluster[2]);
}

void memory_of(CUpti_ActivityKernel10& record, const Kernel& kernel) {
  record.registersPerThread = static_cast<std::uint16_t>(kernel.registers_per_thread);
  record.staticSharedMemory = kernel.static_shared_bytes;
  record.dynamicSharedMemory = kernel.dynamic_shared_bytes;
  record.sharedMemoryExecuted =
      static_cast<std::uint32_t>(kernel.static_shared_bytes + kernel.dynamic_shared_bytes);
  record.localMemoryPerThread = kernel.local_bytes_per_thread;
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    threads *= static_cast<std::uint64_t>(kernel.grid[axis]) *
               static_cast<std::uint64_t>(kernel.block[axis]);
  }
  record.localMemoryTotal_v2 = threads * kernel.local_bytes_per_thread;
  record.localMemoryTotal = static_cast<std::uint32_t>(record.localMemoryTotal_v2);
}

void record_peer_copy(const Copy& copy) {
  if (!wants(CUPTI_ACTIVITY_KIND_MEMCPY2, copy.at.context_id)) return;
  auto record = zeroed<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  record.copyKind = copy_kind(copy.kind);
  record.srcKind = memory_kind(copy.source);
  record.dstKind = memory_kind(copy.target);
  record.flags = copy.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = copy.bytes;
  record.srcDeviceId = copy.source_device;
  record.srcContextId = copy.source_context_id;
  record.dstDeviceId = copy.target_device;
  record.dstContextId = copy.target_context_id;
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  place(record, copy.at);
  append(record, copy.at.end_ns);
}

/// What is known of a full command buffer: a channel a stream, as elsewhere. For ever, since
/// records point at it.
CUpti_ActivityOverheadCommandBufferFullData* command_buffer(std::uint32_t channel) {
  static std::mutex mutex;
  static auto& all = *new std::map<std::uint32_t, CUpti_ActivityOverheadCommandBufferFullData>;
  const std::lock_guard lock{mutex};
  return &all.try_emplace(channel,
                          CUpti_ActivityOverheadCommandBufferFullData{0, channel,
                                                                      CUPTI_CHANNEL_TYPE_COMPUTE})
              .first->second;
}

}  // namespace

void record(const ApiCall& call) {
  if (!wants_record_of(call)) return;
  if (wants(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, call.context_id)) {
    record_external_ids(call.correlation);
  }
  const bool is_driver = call.domain == ApiCall::Domain::driver;
  auto record = zeroed<CUpti_ActivityAPI>(is_driver ? CUPTI_ACTIVITY_KIND_DRIVER
                                                    : CUPTI_ACTIVITY_KIND_RUNTIME);
  record.cbid = call.callback_id;
  record.start = client_time(call.start_ns);
  record.end = client_time(call.end_ns);
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = client_thread_id(call.pthread, call.tid);
  record.correlationId = call.correlation;
  record.returnValue = call.result;
  append(record);
}

void record(const Kernel& kernel) {
  const CUpti_ActivityKind kind = wanted_kernel_kind(kernel.at.context_id);
  if (kind == CUPTI_ACTIVITY_KIND_INVALID) return;
  auto record = zeroed<CUpti_ActivityKernel10>(kind);
  place(record, kernel.at);
  shape(record, kernel);
  memory_of(record, kernel);
  record.completed = record.end;
  record.gridId = next_grid_id();
  record.name = name_for_client(kernel);
  record.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  if (options().latency_timestamps) {
    record.queued = client_time(kernel.submitted_ns);
    record.submitted = client_time(kernel.submitted_ns);
  }
  append(record, kernel.at.end_ns);
}

void record(const Copy& copy) {
  if (copy.kind == CopyKind::peer_to_peer) return record_peer_copy(copy);
  if (!wants(CUPTI_ACTIVITY_KIND_MEMCPY, copy.at.context_id)) return;
  auto record = zeroed<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  record.copyKind = copy_kind(copy.kind);
  record.srcKind = memory_kind(copy.source);
  record.dstKind = memory_kind(copy.target);
  record.flags = copy.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
  record.bytes = copy.bytes;
  record.runtimeCorrelationId = copy.at.correlation;
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  record.copyCount = 1;
  place(record, copy.at);
  append(record, copy.at.end_ns);
}

void record(const Fill& fill) {
  if (!wants(CUPTI_ACTIVITY_KIND_MEMSET, fill.at.context_id)) return;
  auto record = zeroed<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  record.value = fill.value;
  record.bytes = fill.bytes;
  record.flags = fill.asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
  record.memoryKind = memory_kind(fill.memory);
  record.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  place(record, fill.at);
  append(record, fill.at.end_ns);
}

void record(const EventRecord& event) {
  if (!wants(CUPTI_ACTIVITY_KIND_CUDA_EVENT, event.context_id)) return;
  auto record = zeroed<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  record.correlationId = event.correlation;
  record.contextId = event.context_id;
  record.streamId = event.stream_id;
  record.eventId = event.event_id;
  record.deviceId = event.device;
  record.cudaEventSyncId = event.event_sync_id;
  // Without the device's time there is nothing in the record that has to be waited for.
  const bool timed = options().event_timestamps;
  if (timed) record.deviceTimestamp = client_time(event.time_ns);
  append(record, timed ? event.time_ns : kFinished);
}

void record(const Sync& sync) {
  if (!wants(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, sync.context_id)) return;
  if (sync.result != 0 && !options().unsuccessful_queries) return;
  auto record = zeroed<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  record.type = synchronization_type(sync.type);
  record.start = client_time(sync.start_ns);
  record.end = client_time(sync.end_ns);
  record.correlationId = sync.correlation;
  record.contextId = sync.context_id;
  record.streamId = sync.stream_id;
  record.cudaEventId = sync.event_id;
  // The header's value for "not applicable" has 32 bits, the field 64.
  const bool has_event = sync.event_sync_id != ~std::uint64_t{0};
  record.cudaEventSyncId = has_event ? sync.event_sync_id : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.returnValue = sync.result;
  append(record);
}

void record(const DeviceInfo& device) {
  auto record = zeroed<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  record.flags = CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS;
  record.globalMemorySize = device.memory_bytes;
  record.constantMemorySize = 65536;
  record.numThreadsPerWarp = 32;
  record.coreClockRate = device.clock_khz;
  record.numMultiprocessors = device.multiprocessors;
  record.maxThreadsPerBlock = 1024;
  record.maxBlockDimX = 1024;
  record.maxBlockDimY = 1024;
  record.maxBlockDimZ = 64;
  record.maxGridDimX = 0x7fffffff;
  record.maxGridDimY = 65535;
  record.maxGridDimZ = 65535;
  record.computeCapabilityMajor = device.compute_major;
  record.computeCapabilityMinor = device.compute_minor;
  record.id = device.ordinal;
  std::memcpy(record.uuid.bytes, device.uuid, sizeof record.uuid.bytes);
  record.name = lasting_text(device.name);
  record.isCudaVisible = 1;
  record.numaId = invalidNumaId;
  append(record);
}

void record(const ContextInfo& context) {
  if (!wants(CUPTI_ACTIVITY_KIND_CONTEXT, context.id)) return;
  auto record = zeroed<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  record.contextId = context.id;
  record.deviceId = context.device;
  record.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  record.nullStreamId = static_cast<std::uint16_t>(context.null_stream_id);
  record.parentContextId = CUPTI_INVALID_CONTEXT_ID;
  append(record);
}

void record(const StreamInfo& stream) {
  if (!wants(CUPTI_ACTIVITY_KIND_STREAM, stream.context_id)) return;
  auto record = zeroed<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  record.contextId = stream.context_id;
  record.streamId = stream.id;
  record.priority = static_cast<std::uint32_t>(stream.priority);
  record.flag = stream_flag(stream.flag);
  record.correlationId = stream.correlation;
  append(record);
}

bool is_within_whole_graph(const Placement& at) {
  return at.graph_id != 0 && wants(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, at.context_id);
}

void record(const GraphLaunch& launch) {
  if (!wants(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, launch.at.context_id)) return;
  auto record = zeroed<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  record.correlationId = launch.at.correlation;
  record.deviceId = launch.at.device;
  record.graphId = launch.at.graph_id;
  record.contextId = launch.at.context_id;
  record.streamId = launch.at.stream_id;
  record.endDeviceId = launch.at.device;
  record.endContextId = launch.at.context_id;
  set_times(record, launch.at);
  append(record, launch.at.end_ns);
}

void record_context_overhead(const ContextInfo& context, const ApiCall* call) {
  if (!wants(CUPTI_ACTIVITY_KIND_OVERHEAD, context.id)) return;
  const std::int64_t now = now_ns();
  auto record = zeroed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_CONTEXT;
  record.objectId.dcs.deviceId = context.device;
  record.objectId.dcs.contextId = context.id;
  record.start = client_time(call != nullptr ? call->start_ns : now);
  record.end = client_time(now);
  record.correlationId = call != nullptr ? call->correlation : 0;
  append(record);
}

void record(const QueueFull& wait) {
  if (!wants(CUPTI_ACTIVITY_KIND_OVERHEAD, wait.context_id)) return;
  auto record = zeroed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  record.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_STREAM;
  record.objectId.dcs.deviceId = wait.device;
  record.objectId.dcs.contextId = wait.context_id;
  record.objectId.dcs.streamId = wait.stream_id;
  record.start = client_time(wait.start_ns);
  record.end = client_time(wait.end_ns);
  record.correlationId = wait.correlation;
  record.overheadData = command_buffer(wait.stream_id);
  append(record);
}

void record_function(const Kernel& kernel) {
  if (!wants(CUPTI_ACTIVITY_KIND_FUNCTION, kernel.at.context_id) || kernel.name == nullptr) return;
  static std::mutex mutex;
  static auto& seen = *new std::map<std::pair<std::uint32_t, std::string>, std::uint32_t>;
  auto record = zeroed<CUpti_ActivityFunction>(CUPTI_ACTIVITY_KIND_FUNCTION);
  {
    const std::lock_guard lock{mutex};
    const auto id = static_cast<std::uint32_t>(seen.size() + 1);
    if (!seen.try_emplace({kernel.at.context_id, kernel.name}, id).second) return;
    record.id = id;
  }
  record.contextId = kernel.at.context_id;
  record.functionIndex = record.id;
  record.name = kernel.name;
  append(record);
}

}  // namespace gprofml::simgpu::cupti
