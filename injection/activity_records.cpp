#include "injection/activity_records.hpp"

#include "injection/api_rules.hpp"
#include "injection/cupti_session.hpp"
#include "injection/kernel_records.hpp"
#include "injection/memory_records.hpp"
#include "injection/record_lengths.hpp"
#include "injection/window_filter.hpp"
#include "injection/writer.hpp"

namespace gprofml::injection {
namespace {

constexpr std::uint32_t kMostCallbacks = 4096;
constexpr std::uint32_t kRuntime = 0;
constexpr std::uint32_t kDriver = 1;
// CUPTI_SYNCHRONIZATION_INVALID_VALUE is 32 bits wide, also in the fields of 64.
constexpr std::uint64_t kNoEventSync32 = 0xffffffffu;
constexpr std::uint64_t kNoEventSync = ~std::uint64_t{0};

/// What is known of a callback id; the strings stay valid for the whole spool.
struct Call {
  bool is_known;
  bool is_wanted;
  std::uint32_t name;
};
Call calls[2][kMostCallbacks];
const RecordStream* calls_of = nullptr;

RecordLengths lengths;  // of the one CUPTI of this process

Call& call_of(RecordStream& stream, const CuptiSession& session, std::uint32_t domain,
              std::uint32_t id) {
  if (calls_of != &stream) {
    std::memset(calls, 0, sizeof calls);
    calls_of = &stream;
  }
  Call& call = calls[domain][id < kMostCallbacks ? id : 0];
  if (call.is_known) return call;
  const char* name = nullptr;
  if (session.library.GetCallbackName != nullptr) {
    session.library.GetCallbackName(
        domain == kRuntime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
  }
  call.is_wanted = !session.filters_on_writer || name == nullptr ||
                   is_recorded_call(name, session.recorder->options.groups);
  call.name = stream.string(name);
  call.is_known = id < kMostCallbacks;
  return call;
}

spool::Copy copy_common(const RawRecord& record) {
  spool::Copy copy{};
  copy.start_ns = record.time(kMemcpy6_start);
  copy.end_ns = record.time(kMemcpy6_end);
  copy.bytes = record.u64(kMemcpy6_bytes);
  copy.device = record.u32(kMemcpy6_deviceId);
  copy.context = record.u32(kMemcpy6_contextId);
  copy.stream = record.u32(kMemcpy6_streamId);
  copy.copy_kind = record.get<std::uint8_t>(kMemcpy6_copyKind);
  copy.source_memory = record.get<std::uint8_t>(kMemcpy6_srcKind);
  copy.target_memory = record.get<std::uint8_t>(kMemcpy6_dstKind);
  copy.flags = record.get<std::uint8_t>(kMemcpy6_flags);
  return copy;
}

void write_copy(RecordStream& stream, const RawRecord& record) {
  spool::Copy copy = copy_common(record);
  copy.graph_node = record.u64(kMemcpy6_graphNodeId);
  copy.graph = record.u32(kMemcpy6_graphId);
  copy.correlation = record.u32(kMemcpy6_correlationId);
  copy.source_device = spool::kNoId;
  copy.target_device = spool::kNoId;
  stream.add(spool::RecordKind::copy, copy);
}

void write_peer_copy(RecordStream& stream, const RawRecord& record) {
  spool::Copy copy = copy_common(record);
  copy.graph_node = record.u64(kMemcpyPtoP4_graphNodeId);
  copy.graph = record.u32(kMemcpyPtoP4_graphId);
  copy.correlation = record.u32(kMemcpyPtoP4_correlationId);
  copy.source_device = record.u32(kMemcpyPtoP4_srcDeviceId);
  copy.target_device = record.u32(kMemcpyPtoP4_dstDeviceId);
  stream.add(spool::RecordKind::copy, copy);
}

void write_fill(RecordStream& stream, const RawRecord& record) {
  spool::Fill fill{};
  fill.start_ns = record.time(kMemset4_start);
  fill.end_ns = record.time(kMemset4_end);
  fill.bytes = record.u64(kMemset4_bytes);
  fill.graph_node = record.u64(kMemset4_graphNodeId);
  fill.graph = record.u32(kMemset4_graphId);
  fill.device = record.u32(kMemset4_deviceId);
  fill.context = record.u32(kMemset4_contextId);
  fill.stream = record.u32(kMemset4_streamId);
  fill.correlation = record.u32(kMemset4_correlationId);
  fill.value = record.u32(kMemset4_value);
  fill.memory = static_cast<std::uint8_t>(record.get<std::uint16_t>(kMemset4_memoryKind));
  fill.flags = static_cast<std::uint8_t>(record.get<std::uint16_t>(kMemset4_flags));
  stream.add(spool::RecordKind::fill, fill);
}

Fate write_call(RecordStream& stream, const CuptiSession& session, const RawRecord& record,
                std::uint32_t domain) {
  spool::ApiCall call{};
  call.callback_id = record.u32(kAPI_cbid);
  const Call& known = call_of(stream, session, domain, call.callback_id);
  if (!known.is_wanted) return Fate::unwanted;
  call.start_ns = record.time(kAPI_start);
  call.end_ns = record.time(kAPI_end);
  call.correlation = record.u32(kAPI_correlationId);
  call.name = known.name;
  call.tid = record.u32(kAPI_threadId);
  call.return_value = record.u32(kAPI_returnValue);
  call.domain = domain;
  introduce_thread(stream, call.tid);
  stream.add(spool::RecordKind::api_call, call);
  return Fate::written;
}

std::uint64_t event_sync(std::uint64_t raw) {
  return raw == kNoEventSync32 ? kNoEventSync : raw;
}

void write_sync(RecordStream& stream, const RawRecord& record) {
  spool::Sync sync{};
  sync.start_ns = record.time(kSynchronization2_start);
  sync.end_ns = record.time(kSynchronization2_end);
  sync.event_sync = event_sync(record.u64(kSynchronization2_cudaEventSyncId, kNoEventSync));
  sync.type = record.u32(kSynchronization2_type);
  sync.correlation = record.u32(kSynchronization2_correlationId);
  sync.context = record.u32(kSynchronization2_contextId);
  sync.stream = record.u32(kSynchronization2_streamId);
  sync.event = record.u32(kSynchronization2_cudaEventId);
  sync.return_value = record.u32(kSynchronization2_returnValue);
  stream.add(spool::RecordKind::sync, sync);
}

void write_cuda_event(RecordStream& stream, const RawRecord& record) {
  spool::CudaEvent event{};
  event.event_sync = event_sync(record.u64(kCudaEvent2_cudaEventSyncId, kNoEventSync));
  event.device_time_ns = record.time(kCudaEvent2_deviceTimestamp);
  event.correlation = record.u32(kCudaEvent2_correlationId);
  event.context = record.u32(kCudaEvent2_contextId);
  event.stream = record.u32(kCudaEvent2_streamId);
  event.event = record.u32(kCudaEvent2_eventId);
  stream.add(spool::RecordKind::cuda_event, event);
}

void write_overhead(RecordStream& stream, const RawRecord& record, Cost& cost) {
  spool::Overhead overhead{};
  overhead.start_ns = record.time(kOverhead3_start);
  overhead.end_ns = record.time(kOverhead3_end);
  overhead.kind = record.u32(kOverhead3_overheadKind);
  if (record.u32(kOverhead3_objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD) {
    overhead.tid =
        record.u32(kOverhead3_objectId + offsetof(CUpti_ActivityObjectKindId, pt.threadId));
  }
  overhead.correlation = record.u32(kOverhead3_correlationId);
  stream.add(spool::RecordKind::overhead, overhead);
  if (overhead.end_ns > overhead.start_ns) {
    cost.cupti_ns += static_cast<std::uint64_t>(overhead.end_ns - overhead.start_ns);
  }
}

void write_device(RecordStream& stream, const RawRecord& record) {
  spool::Device device{};
  device.id = record.u32(kDevice5_id);
  device.name = stream.string(record.get<const char*>(kDevice5_name));
  using Uuid = std::uint8_t[16];
  struct Bytes {
    Uuid bytes;
  };
  std::memcpy(device.uuid, record.get<Bytes>(kDevice5_uuid).bytes, sizeof(Uuid));
  if (record.get<std::uint8_t>(kDevice5_isMigEnabled) != 0) {
    std::memcpy(device.mig_uuid, record.get<Bytes>(kDevice5_migUuid).bytes, sizeof(Uuid));
  }
  device.memory_bytes = record.u64(kDevice5_globalMemorySize);
  device.multiprocessors = record.u32(kDevice5_numMultiprocessors);
  device.compute_major = record.u32(kDevice5_computeCapabilityMajor);
  device.compute_minor = record.u32(kDevice5_computeCapabilityMinor);
  stream.add(spool::RecordKind::device, device);
}

void write_context(RecordStream& stream, const RawRecord& record) {
  spool::Context context{};
  context.id = record.u32(kContext3_contextId);
  context.device = record.u32(kContext3_deviceId);
  context.null_stream = record.get<std::uint16_t>(kContext3_nullStreamId);
  stream.add(spool::RecordKind::context, context);
}

void write_stream(RecordStream& stream, const RawRecord& record) {
  spool::Stream created{};
  created.context = record.u32(kStream_contextId);
  created.id = record.u32(kStream_streamId);
  created.priority = record.get<std::int32_t>(kStream_priority);
  created.flag = record.u32(kStream_flag);
  created.correlation = record.u32(kStream_correlationId);
  stream.add(spool::RecordKind::stream, created);
}

Fate write_memory_record(RecordStream& stream, const RawRecord& record) {
  switch (record.kind()) {
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      write_memory_event(stream, record);
      break;
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      write_memory_pool(stream, record);
      break;
    default:
      write_unified_memory(stream, record);
  }
  return Fate::written;
}

}  // namespace

Fate write_record(RecordStream& stream, const CuptiSession& session, const RawRecord& record) {
  switch (record.kind()) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      write_kernel(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      write_copy(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      write_peer_copy(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      write_fill(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return write_call(stream, session, record, kRuntime);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return write_call(stream, session, record, kDriver);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      write_sync(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      write_cuda_event(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      write_overhead(stream, record, session.recorder->cost);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      if (session.gives_up_memory.load(std::memory_order_relaxed)) return Fate::unwanted;
      return write_memory_record(stream, record);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      write_graph_launch(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      write_device(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      write_context(stream, record);
      return Fate::written;
    case CUPTI_ACTIVITY_KIND_STREAM:
      write_stream(stream, record);
      return Fate::written;
    default:
      return Fate::unknown;
  }
}

void write_activity(Recorder& recorder, ActivityBuffers::Full* buffers) {
  const CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  if (session == nullptr) return;
  begin_kernels();
  const Windows& windows = recorder.window_pass.windows;
  ActivityBuffers::Full* buffer = buffers;
  while (buffer != nullptr) {
    ActivityBuffers::Full* next = buffer->next;
    const bool whole = walk_records(
        session->library, lengths, buffer->data, buffer->valid_bytes, [&](const RawRecord& record) {
          if (windows.is_on() && !is_in_window(windows, record)) return;
          ++recorder.records_written;
          const Fate fate = write_record(recorder.stream, *session, record);
          if (fate == Fate::unknown) ++recorder.buffers.unknown_records;
        });
    if (!whole) ++recorder.buffers.incomplete_records;
    recorder.buffers.give_back(*buffer);
    buffer = next;
  }
}

}  // namespace gprofml::injection
