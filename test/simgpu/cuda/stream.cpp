// Streams and events, and host functions put on streams.
#include <cmath>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/effects.hpp"
#include "test/simgpu/engine/graph.hpp"
#include "test/simgpu/engine/model.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu::driver {
namespace {

CUresult no_stream() {
  return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
}

CUresult create_stream(CUstream* made, unsigned flags, int priority) {
  EngineLock lock;
  Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (made == nullptr || flags > CU_STREAM_NON_BLOCKING) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Stream* stream = make_stream(
      context,
      flags == CU_STREAM_NON_BLOCKING ? StreamInfo::Flag::non_blocking : StreamInfo::Flag::blocking,
      std::max(-5, std::min(0, priority)));
  tell_resource({ResourceEvent::What::stream_created}, context, stream);
  *made = handle<CUstream>(stream);
  return CUDA_SUCCESS;
}

CUresult record(CUevent event_handle, CUstream stream_handle, bool external) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  Event* event = live<Event>(event_handle);
  if (stream == nullptr || event == nullptr) {
    return event == nullptr ? CUDA_ERROR_INVALID_HANDLE : no_stream();
  }
  if (event->context != stream->context) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (stream->capture != nullptr && !external) {
    capture_event_record(*stream, *event);
    return CUDA_SUCCESS;
  }
  Operation operation;
  operation.kind = Operation::Kind::event_record;
  operation.event = event;
  return submit(*stream, std::move(operation));
}

CUresult elapsed(float* milliseconds, CUevent start, CUevent end) {
  EngineLock lock;
  const Event* from = live<Event>(start);
  const Event* to = live<Event>(end);
  if (from == nullptr || to == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (milliseconds == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!from->recorded || !to->recorded ||
      ((from->flags | to->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (from->time_ns > now_ns() || to->time_ns > now_ns()) {
    return CUDA_ERROR_NOT_READY;
  }
  *milliseconds = static_cast<float>(static_cast<double>(to->time_ns - from->time_ns) / 1e6);
  return CUDA_SUCCESS;
}

/// Whether something is over; what really happens (host functions) is waited for then.
CUresult query(EngineLock& lock, std::int64_t end_ns, const Pending& pending) {
  lock.release();
  if (now_ns() < end_ns) {
    return CUDA_ERROR_NOT_READY;
  }
  wait_for(pending);
  return CUDA_SUCCESS;
}

CUresult put_host_function(CUstream stream_handle, std::function<void()> effect, CUhostFn function,
                           void* data) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) {
    return no_stream();
  }
  Operation operation;
  operation.kind = Operation::Kind::host_function;
  operation.effect = std::move(effect);
  operation.host_parameters.fn = function;
  operation.host_parameters.userData = data;
  return submit(*stream, std::move(operation));
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return create_stream(stream, flags, 0);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream stream_handle) {
  EngineLock lock;
  Stream* stream = live<Stream>(stream_handle);
  if (stream == nullptr || stream->flag == StreamInfo::Flag::null_stream ||
      stream->flag == StreamInfo::Flag::per_thread) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    stream->capture->streams.erase(stream);
  }
  tell_resource({ResourceEvent::What::stream_destroy_starting}, stream->context, stream);
  destroy_stream(stream);
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream_handle) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) {
    return no_stream();
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (capture_forbids(*stream)) {
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  Sync sync;
  sync.type = Sync::Type::stream;
  sync.context_id = stream->context->id;
  sync.stream_id = stream->id;
  const Ready last = stream->flag == StreamInfo::Flag::null_stream
                         ? ready(*stream)
                         : Ready{stream->end_ns, stream->pending};
  synchronise(lock, sync, last.time_ns, last.after);
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream_handle) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) {
    return no_stream();
  }
  if (stream->capture != nullptr) {
    stream->capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const Ready last = stream->flag == StreamInfo::Flag::null_stream
                         ? ready(*stream)
                         : Ready{stream->end_ns, stream->pending};
  return query(lock, last.time_ns, last.after);
}

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent event_handle, unsigned flags) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  const Event* event = live<Event>(event_handle);
  if (stream == nullptr || event == nullptr) {
    return event == nullptr ? CUDA_ERROR_INVALID_HANDLE : no_stream();
  }
  if (stream->capture != nullptr && (flags & CU_EVENT_WAIT_EXTERNAL) != 0) {
    Operation operation;
    operation.kind = Operation::Kind::event_wait;
    operation.event = const_cast<Event*>(event);
    return submit(*stream, std::move(operation));
  }
  if (stream->capture != nullptr || event->capture != nullptr) {
    return capture_event_wait(*stream, *event);
  }
  if (!event->recorded) {
    return CUDA_SUCCESS;
  }
  stream_wait_event(*stream, *event);
  Sync sync;
  sync.type = Sync::Type::stream_wait_event;
  sync.context_id = stream->context->id;
  sync.stream_id = stream->id;
  sync.event_id = event->id;
  sync.event_sync_id = event->record_id;
  synchronise(lock, sync, 0, {});
  return CUDA_SUCCESS;
}

CUresult cuStreamGetFlags(CUstream stream_handle, unsigned* flags) {
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || flags == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  *flags =
      stream->flag == StreamInfo::Flag::non_blocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream stream_handle, int* priority) {
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || priority == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  *priority = stream->priority;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream stream_handle, unsigned long long* id) {
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || id == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  *id = stream->id;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream_handle, CUcontext* context) {
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || context == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  *context = handle<CUcontext>(stream->context);
  return CUDA_SUCCESS;
}

CUresult cuStreamGetDevice(CUstream stream_handle, CUdevice* device) {
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || device == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  *device = static_cast<CUdevice>(stream->context->device->ordinal);
  return CUDA_SUCCESS;
}

CUresult cuStreamCopyAttributes(CUstream target, CUstream source) {
  EngineLock lock;
  Stream* to = stream_of(target);
  const Stream* from = stream_of(source);
  if (to == nullptr || from == nullptr) {
    return no_stream();
  }
  to->attributes = from->attributes;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream stream_handle, CUstreamAttrID name,
                              CUstreamAttrValue* value) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || value == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  *value = stream->attributes[static_cast<int>(name)];
  if (name == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
    value->priority = stream->priority;
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamSetAttribute(CUstream stream_handle, CUstreamAttrID name,
                              const CUstreamAttrValue* value) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || value == nullptr) {
    return stream == nullptr ? no_stream() : CUDA_ERROR_INVALID_VALUE;
  }
  stream->attributes[static_cast<int>(name)] = *value;
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream stream_handle, CUdeviceptr, size_t, unsigned) {
  EngineLock lock;
  return stream_of(stream_handle) != nullptr ? CUDA_SUCCESS : no_stream();
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return function == nullptr ? CUDA_ERROR_INVALID_VALUE
                             : put_host_function(
                                   stream, [=] { function(data); }, function, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  if (callback == nullptr || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return put_host_function(
      stream, [=] { callback(stream, CUDA_SUCCESS, data); }, nullptr, nullptr);
}

CUresult cuEventCreate(CUevent* made, unsigned flags) {
  EngineLock lock;
  Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (made == nullptr || flags > 7) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CU_EVENT_INTERPROCESS) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  auto* event = new Event;
  event->id = next_id(IdKind::event);
  event->context = context;
  event->flags = flags;
  register_handle(HandleKind::event, event);
  *made = handle<CUevent>(event);
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event_handle) {
  EngineLock lock;
  Event* event = live<Event>(event_handle);
  if (event == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  forget_handle(HandleKind::event, event);
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return record(event, stream, false);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return flags > CU_EVENT_RECORD_EXTERNAL
             ? CUDA_ERROR_INVALID_VALUE
             : record(event, stream, flags == CU_EVENT_RECORD_EXTERNAL);
}

CUresult cuEventSynchronize(CUevent event_handle) {
  EngineLock lock;
  const Event* event = live<Event>(event_handle);
  if (event == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (event->capture != nullptr) {
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  if (!event->recorded) {
    return CUDA_SUCCESS;
  }
  Sync sync;
  sync.type = Sync::Type::event;
  sync.context_id = event->context->id;
  sync.stream_id = event->stream_id;
  sync.event_id = event->id;
  sync.event_sync_id = event->record_id;
  synchronise(lock, sync, event->time_ns, Pending(event->pending));
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event_handle) {
  EngineLock lock;
  const Event* event = live<Event>(event_handle);
  if (event == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (event->capture != nullptr) {
    return CUDA_ERROR_CAPTURED_EVENT;
  }
  return event->recorded ? query(lock, event->time_ns, Pending(event->pending)) : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed(milliseconds, start, end);
}

}  // namespace gprofml::simgpu::driver
