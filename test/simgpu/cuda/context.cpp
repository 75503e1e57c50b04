// Contexts: the primary one of each device, own ones, and the thread's stack of them.
#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/graph.hpp"
#include "test/simgpu/engine/memory.hpp"
#include "test/simgpu/engine/model.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu::driver {
namespace {

Context* create(Device& device, bool primary, unsigned flags) {
  advance(model().context_create_ns);
  return make_context(device, primary, flags);
}

void destroy(Context* context) {
  release_allocations_of(context);
  destroy_context(context);
}

void make_current(Context* context) {
  std::vector<Context*>& stack = this_thread().contexts;
  if (!stack.empty()) {
    stack.pop_back();
  }
  if (context != nullptr) {
    stack.push_back(context);
  }
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice ordinal) {
  if (!is_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (device->primary == nullptr) {
    device->primary = create(*device, true, device->primary_flags);
  }
  ++device->primary_references;
  *context = handle<CUcontext>(device->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (device->primary == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (--device->primary_references == 0) {
    destroy(device->primary);
    device->primary = nullptr;
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (device->primary != nullptr) {
    wait_until(device->primary->busy_end_ns);
    destroy(device->primary);
    device->primary = nullptr;
    device->primary_references = 0;
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  device->primary_flags = flags;
  if (device->primary != nullptr) {
    device->primary->flags = flags;
  }
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  *flags = device->primary_flags;
  *active = device->primary != nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice ordinal) {
  if (!is_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  EngineLock lock;
  Device* device = device_of(ordinal);
  if (device == nullptr) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  if (parameters != nullptr && parameters->execAffinityParams != nullptr) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  Context* made = create(*device, false, flags);
  this_thread().contexts.push_back(made);
  *context = handle<CUcontext>(made);
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice ordinal) {
  return driver::cuCtxCreate_v4(context, nullptr, flags, ordinal);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  EngineLock lock;
  Context* found = live<Context>(context);
  if (found == nullptr || found->is_primary) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  std::vector<Context*>& stack = this_thread().contexts;
  if (!stack.empty() && stack.back() == found) {
    stack.pop_back();
  }
  wait_until(found->busy_end_ns);
  destroy(found);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  EngineLock lock;
  Context* found = live<Context>(context);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  this_thread().contexts.push_back(found);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  std::vector<Context*>& stack = this_thread().contexts;
  if (stack.empty()) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (context != nullptr) {
    *context = handle<CUcontext>(stack.back());
  }
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
  if (!is_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  EngineLock lock;
  Context* found = live<Context>(context);
  if (context != nullptr && found == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  make_current(found);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *context = handle<CUcontext>(current_context());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  const Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *device = static_cast<CUdevice>(context->device->ordinal);
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
  const Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *flags = context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext context, unsigned long long* id) {
  EngineLock lock;
  const Context* found = context != nullptr ? live<Context>(context) : current_context();
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  *id = found->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  *version = 3020;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) {
    *least = 0;
  }
  if (greatest != nullptr) {
    *greatest = -5;
  }
  return current_context() != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  static const std::map<int, std::size_t> kDefaults = {
      {CU_LIMIT_STACK_SIZE, 1024},
      {CU_LIMIT_PRINTF_FIFO_SIZE, 8U << 20U},
      {CU_LIMIT_MALLOC_HEAP_SIZE, 8U << 20U},
      {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2},
      {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
      {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128},
      {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
  EngineLock lock;
  Context* context = current_context();
  const auto known = kDefaults.find(limit);
  if (context == nullptr || value == nullptr || known == kDefaults.end()) {
    return context == nullptr
               ? CUDA_ERROR_INVALID_CONTEXT
               : (value == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_LIMIT);
  }
  const auto set = context->limits.find(limit);
  *value = set != context->limits.end() ? set->second : known->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  EngineLock lock;
  Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (limit < 0 || limit > CU_LIMIT_PERSISTING_L2_CACHE_SIZE) {
    return CUDA_ERROR_UNSUPPORTED_LIMIT;
  }
  context->limits[limit] = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  const Context* context = current_context();
  if (context == nullptr || config == nullptr) {
    return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_VALUE;
  }
  *config = static_cast<CUfunc_cache>(context->cache_config);
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  context->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  EngineLock lock;
  Context* context = current_context();
  Context* other = live<Context>(peer);
  if (context == nullptr || other == nullptr || flags != 0) {
    return flags != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_CONTEXT;
  }
  if (context->device == other->device) {
    return CUDA_ERROR_INVALID_DEVICE;
  }
  return context->peers.insert(other).second ? CUDA_SUCCESS
                                             : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  EngineLock lock;
  Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return context->peers.erase(live<Context>(peer)) != 0 ? CUDA_SUCCESS
                                                        : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

CUresult cuCtxSynchronize() {
  EngineLock lock;
  const Context* context = current_context();
  if (context == nullptr) {
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  if (capture_forbids_unsafe_call()) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  Sync sync;
  sync.type = Sync::Type::context;
  sync.context_id = context->id;
  Pending pending;
  for (const Stream* stream : context->streams) {
    pending.insert(pending.end(), stream->pending.begin(), stream->pending.end());
  }
  synchronise(lock, sync, context->busy_end_ns, pending);
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() {
  return CUDA_SUCCESS;
}

CUresult cuProfilerStop() {
  return CUDA_SUCCESS;
}

}  // namespace gprofml::simgpu::driver
