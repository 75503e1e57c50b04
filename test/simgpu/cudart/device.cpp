// Devices and their properties, limits, versions, the profiler switches.
#include <cudaProfiler.h>

#include <cstdio>
#include <cstring>

#include "test/simgpu/cudart/common.hpp"

namespace gprofml::simgpu::runtime {
namespace {

int device_count() {
  int count = 0;
  return cuDeviceGetCount(&count) == CUDA_SUCCESS ? count : 0;
}

bool exists(int device) {
  return device >= 0 && device < device_count();
}

int attribute(int device, CUdevice_attribute name) {
  int value = 0;
  cuDeviceGetAttribute(&value, name, device);
  return value;
}

std::size_t bytes_attribute(int device, CUdevice_attribute name) {
  return static_cast<std::size_t>(attribute(device, name));
}

void fill_limits(cudaDeviceProp& p, int device) {
  p.sharedMemPerBlock = bytes_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  p.sharedMemPerBlockOptin =
      bytes_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  p.sharedMemPerMultiprocessor =
      bytes_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  p.reservedSharedMemPerBlock =
      bytes_attribute(device, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
  p.regsPerBlock = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p.regsPerMultiprocessor = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p.warpSize = attribute(device, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p.memPitch = bytes_attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  p.maxThreadsPerBlock = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  p.maxThreadsPerMultiProcessor =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p.maxBlocksPerMultiProcessor =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  for (int axis = 0; axis < 3; ++axis) {
    p.maxThreadsDim[axis] = attribute(
        device, static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis));
    p.maxGridSize[axis] = attribute(
        device, static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis));
  }
  p.totalConstMem = bytes_attribute(device, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  p.textureAlignment = bytes_attribute(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT);
  p.texturePitchAlignment = bytes_attribute(device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT);
  p.maxTexture1D = attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  p.maxTexture2D[0] = attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH);
  p.maxTexture2D[1] = attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT);
  p.maxTexture3D[0] = attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH);
  p.maxTexture3D[1] = attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT);
  p.maxTexture3D[2] = attribute(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH);
}

void fill_abilities(cudaDeviceProp& p, int device) {
  p.concurrentKernels = 1;
  p.canMapHostMemory = 1;
  p.unifiedAddressing = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.computePreemptionSupported = 1;
  p.cooperativeLaunch = 1;
  p.clusterLaunch = attribute(device, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  p.hostRegisterSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.memoryPoolsSupported = 1;
  p.ECCEnabled = 1;
  p.asyncEngineCount = attribute(device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  p.persistingL2CacheMaxSize = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  p.accessPolicyMaxWindowSize =
      attribute(device, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
}

cudaError_t device_call(int device, const void* result) {
  const cudaError_t ready = need_driver();
  if (ready != cudaSuccess) {
    return ready;
  }
  if (result == nullptr) {
    return cudaErrorInvalidValue;
  }
  return exists(device) ? cudaSuccess : cudaErrorInvalidDevice;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  const cudaError_t ready = need_driver();
  if (count == nullptr) {
    return cudaErrorInvalidValue;
  }
  *count = ready == cudaSuccess ? device_count() : 0;
  return ready;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* properties, int device) {
  const cudaError_t ready = device_call(device, properties);
  if (ready != cudaSuccess) {
    return ready;
  }
  *properties = {};
  cudaDeviceProp& p = *properties;
  cuDeviceGetName(p.name, sizeof p.name, device);
  cuDeviceGetUuid(reinterpret_cast<CUuuid*>(&p.uuid), device);
  cuDeviceTotalMem(&p.totalGlobalMem, device);
  p.major = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  p.minor = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  p.multiProcessorCount = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p.memoryBusWidth = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  p.l2CacheSize = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  p.pciBusID = attribute(device, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  fill_limits(p, device);
  fill_abilities(p, device);
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr name, int device) {
  const cudaError_t ready = device_call(device, value);
  return ready == cudaSuccess
             ? error_of(cuDeviceGetAttribute(value, static_cast<CUdevice_attribute>(name), device))
             : ready;
}

cudaError_t cudaChooseDevice(int* device, const struct cudaDeviceProp*) {
  const cudaError_t ready = device_call(0, device);
  if (ready == cudaSuccess) {
    *device = 0;
  }
  return ready;
}

cudaError_t cudaSetDevice(int device) {
  const cudaError_t ready = device_call(device, &device);
  return ready == cudaSuccess ? use_device(device) : ready;
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  const cudaError_t ready = device_call(device, &device);
  if (ready != cudaSuccess) {
    return ready;
  }
  return primary_context(device) != nullptr ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) {
    return cudaErrorInvalidValue;
  }
  *device = this_thread().runtime_device;
  return need_driver();
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return devices == nullptr || count <= 0 ? cudaErrorInvalidValue : cudaSuccess;
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess
             ? error_of(cuDevicePrimaryCtxSetFlags(this_thread().runtime_device, flags))
             : ready;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return with_context([&] { return cuCtxGetFlags(flags); });
}

cudaError_t cudaDeviceSynchronize() {
  return with_context([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceReset() {
  ThreadState& thread = this_thread();
  const cudaError_t ready = need_driver();
  if (ready != cudaSuccess) {
    return ready;
  }
  const cudaError_t result = error_of(cuDevicePrimaryCtxReset(thread.runtime_device));
  thread.contexts.clear();
  forget_device_variables(thread.runtime_device);
  return result;
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  const cudaError_t ready = device_call(device, can);
  return ready == cudaSuccess ? error_of(cuDeviceCanAccessPeer(can, device, peer)) : ready;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return with_context([&] {
    const CUcontext context = primary_context(peer);
    return context != nullptr ? cuCtxEnablePeerAccess(context, flags) : CUDA_ERROR_INVALID_DEVICE;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return with_context([&] {
    const CUcontext context = primary_context(peer);
    return context != nullptr ? cuCtxDisablePeerAccess(context) : CUDA_ERROR_INVALID_DEVICE;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, enum cudaDeviceP2PAttr name, int device,
                                      int peer) {
  const cudaError_t ready = device_call(device, value);
  return ready == cudaSuccess ? error_of(cuDeviceGetP2PAttribute(
                                    value, static_cast<CUdevice_P2PAttribute>(name), device, peer))
                              : ready;
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  const cudaError_t ready = device_call(device, text);
  return ready == cudaSuccess ? error_of(cuDeviceGetPCIBusId(text, length, device)) : ready;
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess ? error_of(cuDeviceGetByPCIBusId(device, text)) : ready;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return with_context([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaDeviceGetLimit(size_t* value, enum cudaLimit limit) {
  return with_context([&] { return cuCtxGetLimit(value, static_cast<CUlimit>(limit)); });
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value) {
  return with_context([&] { return cuCtxSetLimit(static_cast<CUlimit>(limit), value); });
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache* config) {
  return with_context([&] { return cuCtxGetCacheConfig(reinterpret_cast<CUfunc_cache*>(config)); });
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config) {
  return with_context([&] { return cuCtxSetCacheConfig(static_cast<CUfunc_cache>(config)); });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return error_of(cuDriverGetVersion(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) {
    return cudaErrorInvalidValue;
  }
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() {
  return with_context([] { return cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return with_context([] { return cuProfilerStop(); });
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** address, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult* status) {
  const cudaError_t ready = need_driver();
  if (ready != cudaSuccess) {
    return ready;
  }
  CUdriverProcAddressQueryResult driver_status = CU_GET_PROC_ADDRESS_SUCCESS;
  if (per_thread()) {
    flags |= CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  }
  const CUresult result =
      cuGetProcAddress(symbol, address, static_cast<int>(version), flags, &driver_status);
  if (status != nullptr) {
    *status = static_cast<enum cudaDriverEntryPointQueryResult>(driver_status);
  }
  return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : error_of(result);
}

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** address, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult* status) {
  return runtime::cudaGetDriverEntryPointByVersion(symbol, address, CUDART_VERSION, flags, status);
}

}  // namespace gprofml::simgpu::runtime
