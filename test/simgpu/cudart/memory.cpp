// Allocation, pools, pointers, device variables.
#include <cstring>

#include "test/simgpu/cudart/common.hpp"

namespace gprofml::simgpu::runtime {
namespace {

CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

CUdeviceptr* out(void** pointer) {
  return reinterpret_cast<CUdeviceptr*>(pointer);
}

CUmemLocation location_of(const cudaMemLocation& location) {
  CUmemLocation result{};
  result.type = static_cast<CUmemLocationType>(location.type);
  result.id = location.id;
  return result;
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  if (pointer == nullptr) {
    return cudaErrorInvalidValue;
  }
  *pointer = nullptr;
  return with_context([&] { return bytes == 0 ? CUDA_SUCCESS : cuMemAlloc(out(pointer), bytes); });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return with_context([&] { return cuMemAllocPitch(out(pointer), pitch, width, height, 4); });
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr* pointer, struct cudaExtent extent) {
  return with_context([&] {
    CUdeviceptr base = 0;
    const CUresult result =
        cuMemAllocPitch(&base, &pointer->pitch, extent.width, extent.height * extent.depth, 4);
    pointer->ptr = reinterpret_cast<void*>(base);
    pointer->xsize = extent.width;
    pointer->ysize = extent.height;
    return result;
  });
}

cudaError_t cudaFree(void* pointer) {
  return with_context(
      [&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFree(address(pointer)); });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return with_context([&] { return cuMemHostAlloc(pointer, bytes, 0); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return with_context([&] { return cuMemHostAlloc(pointer, bytes, flags); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return with_context([&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return with_context([&] { return cuMemHostRegister(pointer, bytes, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return with_context([&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return with_context(
      [&] { return cuMemHostGetDevicePointer(out(device_pointer), pointer, flags); });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return with_context([&] { return cuMemHostGetFlags(flags, pointer); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return with_context([&] { return cuMemAllocManaged(out(pointer), bytes, flags); });
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, struct cudaMemLocation location,
                                 unsigned flags, cudaStream_t stream) {
  return with_context([&] {
    return cuMemPrefetchAsync(address(pointer), bytes, location_of(location), flags,
                              stream_of(stream));
  });
}

cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location) {
  return with_context([&] {
    return cuMemAdvise(address(pointer), bytes, static_cast<CUmem_advise>(advice),
                       location_of(location));
  });
}

cudaError_t cudaMemGetInfo(size_t* available, size_t* total) {
  return with_context([&] { return cuMemGetInfo(available, total); });
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes* attributes,
                                     const void* pointer) {
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess || attributes == nullptr) {
    return attributes == nullptr ? cudaErrorInvalidValue : ready;
  }
  unsigned type = 0;
  unsigned managed = 0;
  int device = 0;
  *attributes = {};
  if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(pointer)) !=
      CUDA_SUCCESS) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;
    attributes->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  }
  cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address(pointer));
  cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address(pointer));
  attributes->type = managed != 0                 ? cudaMemoryTypeManaged
                     : type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost
                                                  : cudaMemoryTypeDevice;
  attributes->device = device;
  attributes->devicePointer = const_cast<void*>(pointer);
  attributes->hostPointer =
      attributes->type == cudaMemoryTypeDevice ? nullptr : const_cast<void*>(pointer);
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  if (pointer == nullptr) {
    return cudaErrorInvalidValue;
  }
  *pointer = nullptr;
  return with_context([&] {
    return bytes == 0 ? CUDA_SUCCESS : cuMemAllocAsync(out(pointer), bytes, stream_of(stream));
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return with_context(
      [&] { return cuMemAllocFromPoolAsync(out(pointer), bytes, pool, stream_of(stream)); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return with_context([&] {
    return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeAsync(address(pointer), stream_of(stream));
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess ? error_of(cuDeviceGetDefaultMemPool(pool, device)) : ready;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess ? error_of(cuDeviceGetMemPool(pool, device)) : ready;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess ? error_of(cuDeviceSetMemPool(device, pool)) : ready;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const struct cudaMemPoolProps* properties) {
  static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess
             ? error_of(cuMemPoolCreate(pool, reinterpret_cast<const CUmemPoolProps*>(properties)))
             : ready;
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return error_of(cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return error_of(cuMemPoolTrimTo(pool, keep));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, enum cudaGraphMemAttributeType name,
                                           void* value) {
  const cudaError_t ready = need_driver();
  return ready != cudaSuccess ? ready
                              : error_of(cuDeviceGetGraphMemAttribute(
                                    device, static_cast<CUgraphMem_attribute>(name), value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, enum cudaGraphMemAttributeType name,
                                           void* value) {
  const cudaError_t ready = need_driver();
  return ready != cudaSuccess ? ready
                              : error_of(cuDeviceSetGraphMemAttribute(
                                    device, static_cast<CUgraphMem_attribute>(name), value));
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  const cudaError_t ready = need_driver();
  return ready != cudaSuccess ? ready : error_of(cuDeviceGraphMemTrim(device));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr name, void* value) {
  return error_of(cuMemPoolGetAttribute(pool, static_cast<CUmemPool_attribute>(name), value));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr name, void* value) {
  return error_of(cuMemPoolSetAttribute(pool, static_cast<CUmemPool_attribute>(name), value));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc* descriptions,
                                 size_t count) {
  return error_of(
      cuMemPoolSetAccess(pool, reinterpret_cast<const CUmemAccessDesc*>(descriptions), count));
}

cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags* flags, cudaMemPool_t pool,
                                 struct cudaMemLocation* location) {
  CUmemLocation driver_location = location_of(*location);
  return error_of(
      cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), pool, &driver_location));
}

cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  const Variable variable = variable_of(symbol);
  *pointer = reinterpret_cast<void*>(variable.address);
  return variable.address != 0 ? cudaSuccess : cudaErrorInvalidSymbol;
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  const Variable variable = variable_of(symbol);
  *bytes = variable.bytes;
  return variable.address != 0 ? cudaSuccess : cudaErrorInvalidSymbol;
}

}  // namespace gprofml::simgpu::runtime
