// Modules and libraries: any image is accepted and has any kernel, for kernels are timed and never
// run. Variables of an image are not known here (the runtime knows those of its programs).
#include <algorithm>
#include <cstdio>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu::driver {
namespace {

CUresult load(bool library, void** made, const void* image) {
  EngineLock lock;
  if (image == nullptr || made == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (!library && current_context() == nullptr) {
    return is_initialised() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_NOT_INITIALIZED;
  }
  *made = make_module(library);
  return CUDA_SUCCESS;
}

CUresult load_file(bool library, void** made, const char* path) {
  if (path == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::FILE* file = std::fopen(path, "rb");
  if (file == nullptr) {
    return CUDA_ERROR_FILE_NOT_FOUND;
  }
  std::fclose(file);
  return load(library, made, path);
}

CUresult unload(const void* module_handle) {
  EngineLock lock;
  Module* module = live<Module>(module_handle);
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  for (Context* context : module->announced_in) {
    ResourceEvent event;
    event.what = ResourceEvent::What::module_unload_starting;
    event.module_handle = module;
    event.module_id = module->id;
    tell_resource(event, context);
  }
  for (const auto& [name, function] : module->functions) {
    forget_handle(HandleKind::function, function);
  }
  forget_handle(HandleKind::module, module);
  return CUDA_SUCCESS;
}

CUresult function_of(void** function, const void* module_handle, const char* name) {
  EngineLock lock;
  Module* module = live<Module>(module_handle);
  if (module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (function == nullptr || name == nullptr || *name == '\0') {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *function = make_function(module, name);
  return CUDA_SUCCESS;
}

CUresult no_variable(const char* name) {
  std::fprintf(stderr, "simgpu: variables of a module are not simulated (%s)\n", name);
  return CUDA_ERROR_NOT_FOUND;
}

CUresult attribute_of(int* value, CUfunction_attribute name, const Function& function) {
  const auto set = function.attributes.find(name);
  if (set != function.attributes.end()) {
    *value = set->second;
    return CUDA_SUCCESS;
  }
  switch (name) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = function.rule->static_shared_bytes;
      break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
      *value = function.rule->local_bytes;
      break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = function.rule->registers;
      break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = 90;
      break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
      *value = 0;
      break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = function.max_dynamic_shared;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = function.shared_carveout;
      break;
    default:
      *value = 0;
      break;
  }
  return name >= 0 && name < CU_FUNC_ATTRIBUTE_MAX ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult set_attribute(Function& function, CUfunction_attribute name, int value) {
  if (name == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
    if (value < 0 || value + function.rule->static_shared_bytes > 232448) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    function.max_dynamic_shared = value;
    return CUDA_SUCCESS;
  }
  if (name < CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || name >= CU_FUNC_ATTRIBUTE_MAX) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  function.attributes[name] = value;
  return CUDA_SUCCESS;
}

/// Blocks of a kernel that fit on one multiprocessor: threads, registers, shared memory, slots.
int blocks_per_multiprocessor(const Function& function, int block_size,
                              std::size_t dynamic_shared) {
  const int warps = (block_size + 31) / 32;
  const int by_threads = 2048 / (warps * 32);
  const int registers_per_warp = (function.rule->registers * 32 + 255) / 256 * 256;
  const int by_registers =
      registers_per_warp > 0 ? 65536 / (registers_per_warp * warps) : by_threads;
  const auto shared =
      static_cast<std::size_t>(function.rule->static_shared_bytes) + dynamic_shared + 1024;
  const int by_shared = static_cast<int>(233472 / shared);
  return std::min(std::min(by_threads, by_registers), std::min(by_shared, 32));
}

constexpr int kPortableClusterBlocks = 8;
constexpr int kLargestClusterBlocks = 16;

int attribute_or_zero(const Function& function, CUfunction_attribute name) {
  const auto found = function.attributes.find(name);
  return found != function.attributes.end() ? found->second : 0;
}

/// Blocks of a cluster that the function itself demands; 0: it leaves that to the launch.
int required_cluster(const Function& function) {
  const int width = attribute_or_zero(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  const int height = attribute_or_zero(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  const int depth = attribute_or_zero(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  return width * std::max(height, 1) * std::max(depth, 1);
}

/// Blocks of the cluster that a launch asks for; 0: none.
std::uint64_t cluster_of(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& size = config.attrs[i].value.clusterDim;
      return std::uint64_t{size.x} * size.y * size.z;
    }
  }
  return 0;
}

}  // namespace

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load(false, reinterpret_cast<void**>(module), image);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return load(false, reinterpret_cast<void**>(module), image);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return load(false, reinterpret_cast<void**>(module), image);
}

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_file(false, reinterpret_cast<void**>(module), path);
}

CUresult cuModuleUnload(CUmodule module) {
  return unload(module);
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return function_of(reinterpret_cast<void**>(function), module, name);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr*, size_t*, CUmodule, const char* name) {
  return no_variable(name);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  *mode = CU_MODULE_LAZY_LOADING;
  return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned,
                           CUlibraryOption*, void**, unsigned) {
  return load(true, reinterpret_cast<void**>(library), image);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option*, void**,
                               unsigned, CUlibraryOption*, void**, unsigned) {
  return load_file(true, reinterpret_cast<void**>(library), path);
}

CUresult cuLibraryUnload(CUlibrary library) {
  return unload(library);
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return function_of(reinterpret_cast<void**>(kernel), library, name);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  EngineLock lock;
  Module* found = live<Module>(library);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *module = handle<CUmodule>(found);
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr*, size_t*, CUlibrary, const char* name) {
  return no_variable(name);
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  EngineLock lock;
  Function* found = live<Function>(kernel);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *function = handle<CUfunction>(found);
  return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  EngineLock lock;
  const Function* found = live<Function>(kernel);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *name = found->name;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction function) {
  return driver::cuKernelGetName(name, reinterpret_cast<CUkernel>(function));
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction function) {
  EngineLock lock;
  const Function* found = live<Function>(function);
  if (found == nullptr || found->module == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  *module = handle<CUmodule>(found->module);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute name, CUfunction function) {
  EngineLock lock;
  const Function* found = live<Function>(function);
  return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : attribute_of(value, name, *found);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute name, CUkernel kernel, CUdevice) {
  EngineLock lock;
  const Function* found = live<Function>(kernel);
  return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : attribute_of(value, name, *found);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute name, int value) {
  EngineLock lock;
  Function* found = live<Function>(function);
  return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : set_attribute(*found, name, value);
}

CUresult cuKernelSetAttribute(CUfunction_attribute name, int value, CUkernel kernel, CUdevice) {
  EngineLock lock;
  Function* found = live<Function>(kernel);
  return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : set_attribute(*found, name, value);
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config) {
  EngineLock lock;
  Function* found = live<Function>(function);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  found->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function,
                                                              int block_size, size_t dynamic_shared,
                                                              unsigned) {
  EngineLock lock;
  const Function* found = live<Function>(function);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (blocks == nullptr || block_size <= 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *blocks = block_size > 1024 ? 0 : blocks_per_multiprocessor(*found, block_size, dynamic_shared);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, size_t dynamic_shared) {
  return driver::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                                      dynamic_shared, 0);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  EngineLock lock;
  const Function* found = live<Function>(function);
  const Context* context = current_context();
  if (found == nullptr || context == nullptr) {
    return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_CONTEXT;
  }
  if (clusters == nullptr || config == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto required = static_cast<std::uint64_t>(required_cluster(*found));
  const std::uint64_t asked = cluster_of(*config);
  const std::uint64_t cluster = asked != 0 ? asked : required;
  const std::uint64_t threads =
      std::uint64_t{config->blockDimX} * config->blockDimY * config->blockDimZ;
  if (cluster == 0 || (required != 0 && cluster != required) || threads == 0 || threads > 1024) {
    return cluster == 0 || (required != 0 && cluster != required) ? CUDA_ERROR_INVALID_CLUSTER_SIZE
                                                                  : CUDA_ERROR_INVALID_VALUE;
  }
  const int blocks =
      blocks_per_multiprocessor(*found, static_cast<int>(threads), config->sharedMemBytes);
  const std::uint64_t resident = static_cast<std::uint64_t>(blocks) *
                                 static_cast<std::uint64_t>(context->device->model.multiprocessors);
  *clusters = static_cast<int>(resident / cluster);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int* blocks, CUfunction function,
                                            const CUlaunchConfig* config) {
  EngineLock lock;
  const Function* found = live<Function>(function);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (blocks == nullptr || config == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool beyond_portable =
      attribute_or_zero(*found, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED) != 0;
  const int required = required_cluster(*found);
  *blocks = required != 0     ? required
            : beyond_portable ? kLargestClusterBlocks
                              : kPortableClusterBlocks;
  return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction function, int blocks,
                                                 int) {
  EngineLock lock;
  const Function* found = live<Function>(function);
  if (found == nullptr || bytes == nullptr || blocks <= 0) {
    return found == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
  }
  const int available = 233472 / blocks - 1024 - found->rule->static_shared_bytes;
  *bytes = static_cast<size_t>(std::max(0, std::min(available, 232448)));
  return CUDA_SUCCESS;
}

}  // namespace gprofml::simgpu::driver
