// Streams, events, host functions.
#include "test/simgpu/cudart/common.hpp"

namespace gprofml::simgpu::runtime {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return with_context([&] { return cuStreamCreate(stream, CU_STREAM_DEFAULT); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return with_context([&] { return cuStreamCreate(stream, flags); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return with_context([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with_context([&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_context([&] { return cuStreamSynchronize(stream_of(stream)); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_context([&] { return cuStreamQuery(stream_of(stream)); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return with_context([&] { return cuStreamWaitEvent(stream_of(stream), event, flags); });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return with_context([&] { return cuStreamGetFlags(stream_of(stream), flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_context([&] { return cuStreamGetPriority(stream_of(stream), priority); });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_context([&] { return cuStreamGetId(stream_of(stream), id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return with_context([&] { return cuStreamGetDevice(stream_of(stream), device); });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t target, cudaStream_t source) {
  return with_context([&] { return cuStreamCopyAttributes(stream_of(target), stream_of(source)); });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID name,
                                   cudaLaunchAttributeValue* value) {
  return with_context([&] {
    return cuStreamGetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(name),
                                reinterpret_cast<CUstreamAttrValue*>(value));
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID name,
                                   const cudaLaunchAttributeValue* value) {
  return with_context([&] {
    return cuStreamSetAttribute(stream_of(stream), static_cast<CUstreamAttrID>(name),
                                reinterpret_cast<const CUstreamAttrValue*>(value));
  });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t bytes,
                                     unsigned flags) {
  return with_context([&] {
    return cuStreamAttachMemAsync(stream_of(stream), reinterpret_cast<CUdeviceptr>(pointer), bytes,
                                  flags);
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return with_context([&] { return cuLaunchHostFunc(stream_of(stream), function, data); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned flags) {
  return with_context([&] {
    return cuStreamAddCallback(stream_of(stream), reinterpret_cast<CUstreamCallback>(callback),
                               data, flags);
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return with_context([&] { return cuEventCreate(event, CU_EVENT_DEFAULT); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return with_context([&] { return cuEventCreate(event, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return with_context([&] { return cuEventRecord(event, stream_of(stream)); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return with_context([&] { return cuEventRecordWithFlags(event, stream_of(stream), flags); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_context([&] { return cuEventQuery(event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_context([&] { return cuEventSynchronize(event); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_context([&] { return cuEventDestroy(event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return with_context([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

}  // namespace gprofml::simgpu::runtime
