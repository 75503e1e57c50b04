// Initialisation, devices and their attributes.
#include <cstdio>
#include <cstring>

#include "test/simgpu/cuda/common.hpp"

namespace gprofml::simgpu::driver {
namespace {

CUresult checked(CUdevice ordinal, const void* result) {
  if (!is_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  if (result == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return device_of(ordinal) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/// What the model does not say is that of an H100. Attributes that are not listed are 0: not
/// supported.
int attribute(const DeviceModel& device, CUdevice_attribute name) {
  switch (name) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return 232448;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return 233472;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return device.clock_khz;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return device.memory_clock_khz;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return device.memory_bus_bits;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return device.l2_bytes;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return device.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return 32;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return device.compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return device.compute_minor;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
      return 32;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
      return 1;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 3;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
      return 1;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      return 1;
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
      return 1;
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
      return device.compute_major >= 9 ? 1 : 0;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
      return 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
      return 2;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return device.pci_bus;
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
      return 0;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
      return 0;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      return CU_COMPUTEMODE_DEFAULT;
    case CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE:
      return device.l2_bytes * 5 / 8;
    case CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE:
      return 134217728;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH:
      return 131072;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH:
      return 131072;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH:
      return 16384;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT:
      return 16384;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH:
      return 16384;
    default:
      return 0;
  }
}

}  // namespace

CUresult cuInit(unsigned flags) {
  return flags == 0 ? initialise() : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  if (!is_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  if (count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *count = static_cast<int>(process_devices().size());
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  const CUresult result = checked(ordinal, device);
  if (result == CUDA_SUCCESS) {
    *device = ordinal;
  }
  return result;
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  const CUresult result = checked(device, name);
  if (result == CUDA_SUCCESS && length > 0) {
    std::snprintf(name, static_cast<std::size_t>(length), "%s",
                  device_of(device)->model.name.c_str());
  }
  return result;
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  const CUresult result = checked(device, uuid);
  if (result == CUDA_SUCCESS) {
    std::memcpy(uuid->bytes, device_of(device)->model.uuid.data(), sizeof uuid->bytes);
  }
  return result;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  const CUresult result = checked(device, bytes);
  if (result == CUDA_SUCCESS) {
    *bytes = device_of(device)->model.memory_bytes;
  }
  return result;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute name, CUdevice device) {
  const CUresult result = checked(device, value);
  if (result != CUDA_SUCCESS) {
    return result;
  }
  if (name <= 0 || name >= CU_DEVICE_ATTRIBUTE_MAX) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *value = attribute(device_of(device)->model, name);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  const CUresult result = checked(device, text);
  if (result == CUDA_SUCCESS) {
    if (length < 13) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0",
                  device_of(device)->model.pci_bus);
  }
  return result;
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  if (!is_initialised()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  unsigned domain = 0;
  unsigned bus = 0;
  if (device == nullptr || text == nullptr ||
      (std::sscanf(text, "%x:%x:", &domain, &bus) != 2 || domain > 0xffff)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (const Device& found : process_devices()) {
    if (domain == 0 && found.model.pci_bus == static_cast<int>(bus)) {
      *device = static_cast<CUdevice>(found.ordinal);
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  CUresult result = checked(device, can);
  if (result == CUDA_SUCCESS) {
    result = checked(peer, can);
  }
  if (result == CUDA_SUCCESS) {
    *can = device != peer ? 1 : 0;
  }
  return result;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute name, CUdevice device,
                                 CUdevice peer) {
  CUresult result = checked(device, value);
  if (result == CUDA_SUCCESS) {
    result = device == peer ? CUDA_ERROR_INVALID_DEVICE : checked(peer, value);
  }
  if (result == CUDA_SUCCESS) {
    *value = name == CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ? 0 : 1;
  }
  return result;
}

}  // namespace gprofml::simgpu::driver
