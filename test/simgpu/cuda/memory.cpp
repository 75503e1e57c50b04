// Allocation: device, pinned and managed memory, pools, what is known about pointers.
#include "test/simgpu/cuda/memory.hpp"

#include <algorithm>
#include <cstring>

#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/effects.hpp"
#include "test/simgpu/engine/graph.hpp"
#include "test/simgpu/engine/memory.hpp"
#include "test/simgpu/engine/memory_events.hpp"
#include "test/simgpu/engine/migration.hpp"
#include "test/simgpu/engine/model.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu::driver {
namespace {

constexpr std::size_t kPitch = 512;

CUresult context_error() {
  return is_initialised() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult allocate(CUdeviceptr* pointer, std::size_t bytes) {
  EngineLock lock;
  Context* context = current_context();
  if (context == nullptr) {
    return context_error();
  }
  if (pointer == nullptr || bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (capture_forbids_unsafe_call()) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  *pointer = allocate_device(*context->device, context, bytes);
  tell_memory(MemoryOperation::What::allocated, *pointer);
  return *pointer != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocate_on_host(void** pointer, std::size_t bytes, Memory kind, unsigned flags) {
  EngineLock lock;
  Context* context = current_context();
  if (context == nullptr) {
    return context_error();
  }
  if (pointer == nullptr || bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (capture_forbids_unsafe_call()) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  const std::uint64_t address = allocate_host(kind, context, bytes, flags);
  *pointer = reinterpret_cast<void*>(address);
  tell_memory(MemoryOperation::What::allocated, address);
  if (kind == Memory::managed && flags == CU_MEM_ATTACH_GLOBAL) {
    expect_migration(address);
  }
  return address != 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/// Waits as a call that frees memory does: for what this thread submitted (waiting for other
/// threads' work would make the time depend on how far they are).
void wait_for_own_work(EngineLock& lock, const Context& context) {
  const std::int64_t until_ns = model().free_waits ? this_thread().submitted_end_ns : 0;
  Pending pending;
  for (const Stream* stream : context.streams) {
    pending.insert(pending.end(), stream->pending.begin(), stream->pending.end());
  }
  lock.release();
  wait_for(pending);
  wait_until(until_ns);
}

/// Frees an allocation of one of two kinds that starts at the address.
CUresult release(std::uint64_t address, Memory kind, Memory other_kind, bool registered) {
  EngineLock lock;
  const Context* context = current_context();
  if (context == nullptr) {
    return context_error();
  }
  const Allocation* found = allocation_at(address);
  if (found == nullptr || (found->kind != kind && found->kind != other_kind) ||
      found->registered != registered) {
    return registered ? CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED : CUDA_ERROR_INVALID_VALUE;
  }
  if (capture_forbids_unsafe_call()) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  wait_for_own_work(lock, *context);
  const EngineLock again;
  Allocation* still = allocation_at(address);
  if (still == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!registered) {
    tell_memory(MemoryOperation::What::released, address);
  }
  release_allocation(still);
  return CUDA_SUCCESS;
}

CUresult allocate_from(MemoryPool* pool, CUdeviceptr* pointer, std::size_t bytes, CUstream handle) {
  EngineLock lock;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (pool == nullptr) {
    pool = stream->context->device->pool;
  }
  if (pointer == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (stream->capture != nullptr) {
    pool = &process_devices()[pool->device].graph_pool;  // it becomes a node
  }
  Operation operation;
  const CUresult result = make_allocation(*pool, stream->context, bytes, &operation);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  *pointer = operation.address;
  if (stream->capture == nullptr) {
    tell_memory(MemoryOperation::What::allocated, operation.address, stream);
  }
  return submit(*stream, std::move(operation));
}

MemoryPool* pool_of(CUmemoryPool pool) {
  return live<MemoryPool>(pool);
}

}  // namespace

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, size_t bytes) {
  return allocate(pointer, bytes);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  if (pitch == nullptr || width == 0 || height == 0 ||
      (element != 4 && element != 8 && element != 16)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pitch = (width + kPitch - 1) / kPitch * kPitch;
  return allocate(pointer, *pitch * height);
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return pointer == 0 ? CUDA_SUCCESS : release(pointer, Memory::device, Memory::managed, false);
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return flags > 7 ? CUDA_ERROR_INVALID_VALUE
                   : allocate_on_host(pointer, bytes, Memory::pinned, flags);
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return allocate_on_host(pointer, bytes, Memory::pinned, 0);
}

CUresult cuMemFreeHost(void* pointer) {
  return release(reinterpret_cast<std::uint64_t>(pointer), Memory::pinned, Memory::pinned, false);
}

CUresult cuMemAllocManaged(CUdeviceptr* pointer, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return allocate_on_host(reinterpret_cast<void**>(pointer), bytes, Memory::managed, flags);
}

CUresult cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned flags) {
  EngineLock lock;
  Context* context = current_context();
  return context == nullptr
             ? context_error()
             : register_host(reinterpret_cast<std::uint64_t>(pointer), bytes, context, flags);
}

CUresult cuMemHostUnregister(void* pointer) {
  return release(reinterpret_cast<std::uint64_t>(pointer), Memory::pinned, Memory::pinned, true);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_pointer, void* pointer, unsigned flags) {
  EngineLock lock;
  const Allocation* found = allocation_of(reinterpret_cast<std::uint64_t>(pointer));
  if (device_pointer == nullptr || flags != 0 || found == nullptr ||
      found->kind != Memory::pinned) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *device_pointer = reinterpret_cast<CUdeviceptr>(pointer);
  return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  EngineLock lock;
  const Allocation* found = allocation_of(reinterpret_cast<std::uint64_t>(pointer));
  if (flags == nullptr || found == nullptr || found->kind != Memory::pinned) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = found->flags;
  return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t* available, size_t* total) {
  EngineLock lock;
  const Context* context = current_context();
  if (context == nullptr) {
    return context_error();
  }
  *total = context->device->model.memory_bytes;
  *available = *total - context->device->used_bytes;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  EngineLock lock;
  const Allocation* found = allocation_of(pointer);
  if (found == nullptr) {
    return CUDA_ERROR_NOT_FOUND;
  }
  if (base != nullptr) {
    *base = found->base;
  }
  if (bytes != nullptr) {
    *bytes = found->bytes;
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute name, CUdeviceptr pointer) {
  EngineLock lock;
  const Allocation* found = allocation_of(pointer);
  if (value == nullptr || found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (name) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(value) = handle<CUcontext>(found->context);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<unsigned*>(value) =
          found->kind == Memory::pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(value) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (found->kind == Memory::device || found->kind == Memory::device_static) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      *static_cast<void**>(value) = reinterpret_cast<void*>(pointer);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      *static_cast<unsigned*>(value) = found->sync_memops;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      *static_cast<unsigned long long*>(value) = found->id;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(value) = found->kind == Memory::managed ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(value) = static_cast<int>(found->device);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(value) = found->base;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<std::size_t*>(value) = found->bytes;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<unsigned*>(value) = 1;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* names, void** values,
                                CUdeviceptr pointer) {
  for (unsigned i = 0; i < count; ++i) {
    if (driver::cuPointerGetAttribute(values[i], names[i], pointer) != CUDA_SUCCESS) {
      std::memset(values[i], 0, sizeof(int));  // as documented: no such attribute is 0
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute name, CUdeviceptr pointer) {
  EngineLock lock;
  Allocation* found = allocation_of(pointer);
  if (value == nullptr || found == nullptr || name != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  found->sync_memops = *static_cast<const unsigned*>(value);
  return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr* pointer, size_t bytes, CUstream stream) {
  return allocate_from(nullptr, pointer, bytes, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  MemoryPool* found = nullptr;
  {
    EngineLock lock;
    found = pool_of(pool);
  }
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : allocate_from(found, pointer, bytes, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream handle) {
  EngineLock lock;
  Stream* stream = stream_of(handle);
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  Operation operation;
  const CUresult result = make_release(pointer, &operation);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  if (stream->capture == nullptr) {
    allocation_at(pointer)->freeing = true;
    tell_memory(MemoryOperation::What::released, pointer, stream);
  }
  return submit(*stream, std::move(operation));
}

CUresult make_allocation(MemoryPool& pool, Context* context, std::size_t bytes,
                         Operation* operation) {
  if (bytes == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  operation->kind = Operation::Kind::allocate;
  operation->address = allocate_device(process_devices()[pool.device], context, bytes, &pool);
  if (operation->address == 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  operation->allocation_parameters.bytesize = bytes;
  operation->allocation_parameters.dptr = operation->address;
  return CUDA_SUCCESS;
}

CUresult make_release(std::uint64_t address, Operation* operation) {
  const Allocation* found = allocation_at(address);
  if (found == nullptr || found->kind != Memory::device || found->freeing) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  operation->kind = Operation::Kind::release;
  operation->address = address;
  operation->effect = [address] {
    const EngineLock again;
    if (Allocation* gone = allocation_at(address); gone != nullptr) {
      release_allocation(gone);
    }
  };
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *pool = handle<CUmemoryPool>(&device->default_pool);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  EngineLock lock;
  const Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *pool = handle<CUmemoryPool>(device->pool);
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  MemoryPool* found = pool_of(pool);
  if (device == nullptr || found == nullptr || found->device != device->ordinal) {
    return device == nullptr ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
  }
  device->pool = found;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  EngineLock lock;
  if (pool == nullptr || properties == nullptr ||
      properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  const Device* device = device_of(properties->location.id);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  auto* made = new MemoryPool;
  made->device = device->ordinal;
  name_pool(*made);
  register_handle(HandleKind::pool, made);
  tell_pool(PoolOperation::What::created, *made);
  *pool = handle<CUmemoryPool>(made);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  EngineLock lock;
  MemoryPool* found = pool_of(pool);
  if (found == nullptr || found == &process_devices()[found->device].default_pool) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Device& device = process_devices()[found->device];
  if (device.pool == found) {
    device.pool = &device.default_pool;
  }
  tell_pool(PoolOperation::What::destroyed, *found);
  forget_handle(HandleKind::pool, found);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  EngineLock lock;
  MemoryPool* found = pool_of(pool);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  found->reserved =
      std::min<std::uint64_t>(found->reserved, std::max<std::uint64_t>(found->used, keep));
  tell_pool(PoolOperation::What::trimmed, *found, keep);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute name, void* value) {
  EngineLock lock;
  const Device* device = device_of(ordinal);
  if (device == nullptr || value == nullptr) {
    return device == nullptr ? CUDA_ERROR_INVALID_DEVICE : CUDA_ERROR_INVALID_VALUE;
  }
  auto* number = static_cast<cuuint64_t*>(value);
  const MemoryPool& pool = device->graph_pool;
  switch (name) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      *number = pool.used;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      *number = pool.used_high;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      *number = pool.reserved;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      *number = pool.reserved_high;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

/// High watermarks can be put back to zero, nothing else can be set.
CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute name, void* value) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (value == nullptr || *static_cast<const cuuint64_t*>(value) != 0 ||
      (name != CU_GRAPH_MEM_ATTR_USED_MEM_HIGH && name != CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  MemoryPool& pool = device->graph_pool;
  if (name == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) {
    pool.used_high = pool.used;
  } else {
    pool.reserved_high = pool.reserved;
  }
  return CUDA_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  device->graph_pool.reserved = device->graph_pool.used;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void* value) {
  EngineLock lock;
  const MemoryPool* found = pool_of(pool);
  if (found == nullptr || value == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  auto* number = static_cast<cuuint64_t*>(value);
  auto* flag = static_cast<int*>(value);
  switch (name) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      *flag = found->reuse_follow_event;
      break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      *flag = found->reuse_opportunistic;
      break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *flag = found->reuse_internal;
      break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *number = found->release_threshold;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *number = found->reserved;
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *number = found->reserved_high;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *number = found->used;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *number = found->used_high;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute name, void* value) {
  EngineLock lock;
  MemoryPool* found = pool_of(pool);
  if (found == nullptr || value == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int flag = *static_cast<const int*>(value);
  switch (name) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
      found->reuse_follow_event = flag;
      break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
      found->reuse_opportunistic = flag;
      break;
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      found->reuse_internal = flag;
      break;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      found->release_threshold = *static_cast<cuuint64_t*>(value);
      break;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      found->reserved_high = found->reserved;
      break;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      found->used_high = found->used;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc*, size_t) {
  EngineLock lock;
  return pool_of(pool) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  EngineLock lock;
  const MemoryPool* found = pool_of(pool);
  if (found == nullptr || flags == nullptr || location == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = static_cast<std::uint32_t>(location->id) == found->device
               ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
               : CU_MEM_ACCESS_FLAGS_PROT_NONE;
  return CUDA_SUCCESS;
}

CUresult cuMemAdvise_v2(CUdeviceptr pointer, size_t bytes, CUmem_advise, CUmemLocation) {
  EngineLock lock;
  const Allocation* found = allocation_of(pointer);
  return found != nullptr && found->kind == Memory::managed && bytes <= found->bytes
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                               unsigned flags, CUstream handle) {
  EngineLock lock;
  Stream* stream = stream_of(handle);
  const Allocation* found = allocation_of(pointer);
  if (stream == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (flags != 0 || bytes == 0 || found == nullptr || found->kind != Memory::managed ||
      pointer + bytes > found->base + found->bytes ||
      (location.type == CU_MEM_LOCATION_TYPE_DEVICE && device_of(location.id) == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Operation operation;  // pages move; CUPTI has no copy record for it
  operation.duration_ns = model().pinned_to_device.duration_ns(bytes);
  const std::int64_t duration_ns = operation.duration_ns;
  Submitted submitted;
  const CUresult result = submit(*stream, std::move(operation), &submitted);
  if (result == CUDA_SUCCESS && !submitted.captured) {
    Migration moved;
    moved.to_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
    moved.address = pointer;
    moved.bytes = bytes;
    moved.device = moved.to_device ? static_cast<std::uint32_t>(location.id)
                                   : stream->context->device->ordinal;
    moved.start_ns = submitted.end_ns - duration_ns;
    moved.end_ns = submitted.end_ns;
    migrate_by_prefetch(moved);
  }
  return result;
}

}  // namespace gprofml::simgpu::driver
