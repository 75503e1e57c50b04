// Kernel launches and what is known about kernels.
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include <cstring>
#include <vector>

#include "test/simgpu/cudart/common.hpp"
#include "test/simgpu/cudart/entry_points.hpp"

namespace gprofml::simgpu::runtime {
namespace {

/// A bad shape has an error of its own in the runtime.
bool valid_shape(dim3 grid, dim3 block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.y <= 65535 && grid.z <= 65535 &&
         grid.x <= 2147483647U && threads > 0 && threads <= 1024 && block.z <= 64;
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t shared, cudaStream_t stream, bool cooperative) {
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess) {
    return ready;
  }
  const CUfunction kernel = kernel_of(function);
  if (kernel == nullptr || !valid_shape(grid, block)) {
    return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidConfiguration;
  }
  if (cooperative) {
    return error_of(cuLaunchCooperativeKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y,
                                              block.z, static_cast<unsigned>(shared),
                                              stream_of(stream), arguments));
  }
  return error_of(cuLaunchKernel(kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                                 static_cast<unsigned>(shared), stream_of(stream), arguments,
                                 nullptr));
}

/// A launch's description in the driver's terms, with the attributes that it points to.
class LaunchConfig {
 public:
  explicit LaunchConfig(const cudaLaunchConfig_t& config) : attributes_(config.numAttrs) {
    for (unsigned i = 0; i < config.numAttrs; ++i) {
      CUlaunchAttribute& to = attributes_[i];
      to.id = static_cast<CUlaunchAttributeID>(config.attrs[i].id);
      static_assert(sizeof to.value == sizeof config.attrs[i].val);
      std::memcpy(&to.value, &config.attrs[i].val, sizeof to.value);
    }
    config_.gridDimX = config.gridDim.x;
    config_.gridDimY = config.gridDim.y;
    config_.gridDimZ = config.gridDim.z;
    config_.blockDimX = config.blockDim.x;
    config_.blockDimY = config.blockDim.y;
    config_.blockDimZ = config.blockDim.z;
    config_.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
    config_.hStream = stream_of(config.stream);
    config_.attrs = attributes_.data();
    config_.numAttrs = config.numAttrs;
  }
  LaunchConfig(const LaunchConfig&) = delete;
  LaunchConfig& operator=(const LaunchConfig&) = delete;
  const CUlaunchConfig* get() const { return &config_; }

 private:
  std::vector<CUlaunchAttribute> attributes_;
  CUlaunchConfig config_{};
};

using ClusterQuestion = CUresult (*)(int*, CUfunction, const CUlaunchConfig*);

cudaError_t about_clusters(ClusterQuestion question, int* answer, const void* function,
                           const cudaLaunchConfig_t* config) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    if (kernel == nullptr || config == nullptr) {
      return kernel == nullptr ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
                               : CUDA_ERROR_INVALID_VALUE;
    }
    return question(answer, kernel, LaunchConfig(*config).get());
  });
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, false);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t shared, cudaStream_t stream) {
  return launch(function, grid, block, arguments, shared, stream, true);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess || config == nullptr) {
    return config == nullptr ? cudaErrorInvalidValue : ready;
  }
  const CUfunction kernel = kernel_of(function);
  if (kernel == nullptr || !valid_shape(config->gridDim, config->blockDim)) {
    return kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidConfiguration;
  }
  const LaunchConfig driver_config(*config);
  return error_of(cuLaunchKernelEx(driver_config.get(), kernel, arguments, nullptr));
}

cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function,
                                           const cudaLaunchConfig_t* config) {
  return about_clusters(cuOccupancyMaxActiveClusters, clusters, function, config);
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* blocks, const void* function,
                                                 const cudaLaunchConfig_t* config) {
  return about_clusters(cuOccupancyMaxPotentialClusterSize, blocks, function, config);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, const void* function) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    if (kernel == nullptr || attributes == nullptr) {
      return kernel == nullptr ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
                               : CUDA_ERROR_INVALID_VALUE;
    }
    const auto get = [kernel](CUfunction_attribute name) {
      int value = 0;
      cuFuncGetAttribute(&value, name, kernel);
      return value;
    };
    *attributes = {};
    attributes->sharedSizeBytes =
        static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
    attributes->constSizeBytes = static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES));
    attributes->localSizeBytes = static_cast<std::size_t>(get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
    attributes->maxThreadsPerBlock = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    attributes->numRegs = get(CU_FUNC_ATTRIBUTE_NUM_REGS);
    attributes->ptxVersion = get(CU_FUNC_ATTRIBUTE_PTX_VERSION);
    attributes->binaryVersion = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION);
    attributes->maxDynamicSharedSizeBytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    attributes->preferredShmemCarveout = get(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    return CUDA_SUCCESS;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, enum cudaFuncAttribute name, int value) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    return kernel == nullptr
               ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
               : cuFuncSetAttribute(kernel, static_cast<CUfunction_attribute>(name), value);
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, enum cudaFuncCache config) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    return kernel == nullptr ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
                             : cuFuncSetCacheConfig(kernel, static_cast<CUfunc_cache>(config));
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    return kernel == nullptr ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
                             : cuFuncGetName(name, kernel);
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return with_context([&] {
    *function = reinterpret_cast<cudaFunction_t>(kernel_of(symbol));
    return *function == nullptr ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
                                : CUDA_SUCCESS;
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* symbol) {
  *kernel = reinterpret_cast<cudaKernel_t>(kernel_of(symbol));
  return *kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks,
                                                                   const void* function,
                                                                   int block_size, size_t shared,
                                                                   unsigned flags) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    return kernel == nullptr ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
                             : cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
                                   blocks, kernel, block_size, shared, flags);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int block_size, size_t shared) {
  return runtime::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function,
                                                                         block_size, shared, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function,
                                                      int blocks, int block_size) {
  return with_context([&] {
    const CUfunction kernel = kernel_of(function);
    return kernel == nullptr
               ? static_cast<CUresult>(cudaErrorInvalidDeviceFunction)
               : cuOccupancyAvailableDynamicSMemPerBlock(bytes, kernel, blocks, block_size);
  });
}

}  // namespace gprofml::simgpu::runtime

// What nvcc makes of kernel<<<...>>>(...). CUPTI has ids for these calls, but no structs.
extern "C" {

using namespace gprofml::simgpu;

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared, cudaStream_t stream) {
  const cudaLaunchKernel_v7000_params parameters{kernel, grid, block, arguments, shared, stream};
  return runtime_call(
      {ApiCall::Domain::runtime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
       "__cudaLaunchKernel_v13000", "__cudaLaunchKernel", false},
      parameters,
      [&] { return runtime::cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); });
}

cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                                    std::size_t shared, cudaStream_t stream) {
  const cudaLaunchKernel_ptsz_v7000_params parameters{kernel,    grid,   block,
                                                      arguments, shared, stream};
  return runtime_call(
      {ApiCall::Domain::runtime, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000,
       "__cudaLaunchKernel_ptsz_v13000", "__cudaLaunchKernel", true},
      parameters,
      [&] { return runtime::cudaLaunchKernel(kernel, grid, block, arguments, shared, stream); });
}

}  // extern "C"
