// What nvcc's start-up code registers: binaries, kernels and variables; and the launches of <<<>>>.
#include <cupti_runtime_cbid.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "test/simgpu/cudart/common.hpp"
#include "test/simgpu/cudart/entry_points.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/memory.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu::runtime {
namespace {

struct Binary {
  const void* image = nullptr;
  Module* module = nullptr;
  bool loaded = false;
};

struct DeviceVariable {
  std::size_t bytes = 0;
  std::map<int, std::uint64_t> addresses;  // by device
  std::uint64_t managed = 0;
};

struct Registered {
  std::mutex mutex;
  std::vector<Binary*> binaries;
  std::map<const void*, Function*> kernels;  // by host function
  std::map<const void*, DeviceVariable> variables;
};

// Never destroyed: programs unregister in exit handlers.
Registered& registered() {
  static auto* all = new Registered;
  return *all;
}

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};
thread_local std::vector<LaunchShape> t_shapes;

}  // namespace

CUfunction kernel_of(const void* function) {
  {
    const std::lock_guard lock(registered().mutex);
    const auto found = registered().kernels.find(function);
    if (found != registered().kernels.end()) {
      return reinterpret_cast<CUfunction>(found->second);
    }
  }
  const EngineLock lock;
  return reinterpret_cast<CUfunction>(live<Function>(function));
}

const char* name_of_kernel(const void* function) {
  return kernel_name(reinterpret_cast<const void*>(kernel_of(function)));
}

void load_registered_binaries() {
  std::vector<const void*> images;
  {
    const std::lock_guard lock(registered().mutex);
    for (Binary* binary : registered().binaries) {
      if (!binary->loaded) {
        binary->loaded = true;
        images.push_back(binary->image);
      }
    }
  }
  for (const void* image : images) {
    CUlibrary library = nullptr;
    cuLibraryLoadData(&library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  }
}

Variable variable_of(const void* symbol) {
  const EngineLock engine_lock;
  Context* context = current_context();
  const std::lock_guard lock(registered().mutex);
  auto found = registered().variables.find(symbol);
  if (found == registered().variables.end()) {
    // nvcc lets programs take the address of a managed variable's memory instead.
    const auto address = reinterpret_cast<std::uint64_t>(symbol);
    found = std::find_if(
        registered().variables.begin(), registered().variables.end(),
        [address](const auto& variable) { return variable.second.managed == address; });
  }
  if (found == registered().variables.end() || context == nullptr) {
    return {};
  }
  DeviceVariable& variable = found->second;
  if (variable.managed != 0) {
    return {variable.managed, variable.bytes};
  }
  std::uint64_t& address = variable.addresses[static_cast<int>(context->device->ordinal)];
  if (address == 0) {
    address = allocate_variable(*context->device, context, variable.bytes);
  }
  return {address, variable.bytes};
}

void forget_device_variables(int device) {
  const std::lock_guard lock(registered().mutex);
  for (auto& [symbol, variable] : registered().variables) {
    variable.addresses.erase(device);
  }
}

}  // namespace gprofml::simgpu::runtime

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::runtime;

extern "C" {

void** __cudaRegisterFatBinary(void* image) {
  auto* binary = new Binary;
  binary->image = image;
  {
    const EngineLock lock;
    binary->module = make_module(true);
  }
  const std::lock_guard lock(registered().mutex);
  registered().binaries.push_back(binary);
  return reinterpret_cast<void**>(binary);
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** binary, const char* host_function, char*, const char* name, int,
                            void*, void*, void*, void*, int*) {
  const EngineLock engine_lock;
  Function* function = make_function(reinterpret_cast<Binary*>(binary)->module, name);
  const std::lock_guard lock(registered().mutex);
  registered().kernels[host_function] = function;
}

void __cudaRegisterVar(void**, char* host_variable, char*, const char*, int, std::size_t bytes, int,
                       int) {
  const std::lock_guard lock(registered().mutex);
  registered().variables[host_variable].bytes = bytes;
}

void __cudaRegisterManagedVar(void**, void** host_pointer, char*, const char*, int,
                              std::size_t bytes, int, int) {
  const EngineLock engine_lock;
  const std::lock_guard lock(registered().mutex);
  DeviceVariable& variable = registered().variables[host_pointer];
  variable.bytes = bytes;
  variable.managed = allocate_host(Memory::managed, nullptr, bytes, 1);
  *host_pointer = reinterpret_cast<void*>(variable.managed);
}

char __cudaInitModule(void**) {
  return 1;
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared,
                                     struct CUstream_st* stream) {
  t_shapes.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (t_shapes.empty()) {
    return cudaErrorMissingConfiguration;
  }
  const LaunchShape shape = t_shapes.back();
  t_shapes.pop_back();
  *grid = shape.grid;
  *block = shape.block;
  *shared = shape.shared;
  *static_cast<cudaStream_t*>(stream) = shape.stream;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  *kernel = reinterpret_cast<cudaKernel_t>(kernel_of(host_function));
  return *kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

}  // extern "C"
