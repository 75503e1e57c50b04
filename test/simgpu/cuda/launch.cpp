// Kernel launches: checked as the driver checks them, then put on their stream.
#include "test/simgpu/cuda/launch.hpp"

#include <algorithm>

#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu::driver {
namespace {

bool valid_shape(const CUDA_KERNEL_NODE_PARAMS& p) {
  const std::uint64_t threads = std::uint64_t{p.blockDimX} * p.blockDimY * p.blockDimZ;
  return p.gridDimX > 0 && p.gridDimY > 0 && p.gridDimZ > 0 && threads > 0 && threads <= 1024 &&
         p.blockDimX <= 1024 && p.blockDimY <= 1024 && p.blockDimZ <= 64 &&
         p.gridDimX <= 2147483647U && p.gridDimY <= 65535 && p.gridDimZ <= 65535;
}

CUresult launch(CUstream stream_handle, const CUDA_KERNEL_NODE_PARAMS& parameters,
                const CUlaunchAttribute* attributes, unsigned count, bool cooperative) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr) {
    return current_context() == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE;
  }
  if (stream->context != current_context()) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  Operation operation;
  CUresult result = make_launch(parameters, attributes, count, cooperative, &operation);
  if (result == CUDA_SUCCESS) {
    result = submit(*stream, std::move(operation));
  }
  return result;
}

CUDA_KERNEL_NODE_PARAMS parameters_of(CUfunction function, unsigned grid_x, unsigned grid_y,
                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                      unsigned block_z, unsigned shared, void** arguments,
                                      void** extra) {
  CUDA_KERNEL_NODE_PARAMS p{};
  p.func = function;
  p.gridDimX = grid_x;
  p.gridDimY = grid_y;
  p.gridDimZ = grid_z;
  p.blockDimX = block_x;
  p.blockDimY = block_y;
  p.blockDimZ = block_z;
  p.sharedMemBytes = shared;
  p.kernelParams = arguments;
  p.extra = extra;
  return p;
}

}  // namespace

CUresult make_launch(const CUDA_KERNEL_NODE_PARAMS& p, const CUlaunchAttribute* attributes,
                     unsigned count, bool cooperative, Operation* operation) {
  Function* function =
      live<Function>(p.func != nullptr ? static_cast<void*>(p.func) : static_cast<void*>(p.kern));
  if (function == nullptr) {
    return CUDA_ERROR_INVALID_HANDLE;
  }
  if (!valid_shape(p) || p.sharedMemBytes > static_cast<unsigned>(function->max_dynamic_shared)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  operation->kind = Operation::Kind::kernel;
  operation->function = function;
  operation->kernel_parameters = p;
  Kernel& kernel = operation->kernel;
  kernel.name = function->name;
  const unsigned grid[] = {p.gridDimX, p.gridDimY, p.gridDimZ};
  const unsigned block[] = {p.blockDimX, p.blockDimY, p.blockDimZ};
  std::copy(std::begin(grid), std::end(grid), kernel.grid);
  std::copy(std::begin(block), std::end(block), kernel.block);
  kernel.registers_per_thread = function->rule->registers;
  kernel.static_shared_bytes = function->rule->static_shared_bytes;
  kernel.dynamic_shared_bytes = static_cast<std::int32_t>(p.sharedMemBytes);
  kernel.local_bytes_per_thread = static_cast<std::uint32_t>(function->rule->local_bytes);
  for (unsigned i = 0; i < count; ++i) {
    const CUlaunchAttribute& attribute = attributes[i];
    operation->attributes[static_cast<int>(attribute.id)] = attribute.value;
    cooperative = cooperative || (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE &&
                                  attribute.value.cooperative != 0);
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const unsigned cluster[] = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                                  attribute.value.clusterDim.z};
      for (int axis = 0; axis < 3; ++axis) {
        if (cluster[axis] == 0 || grid[axis] % cluster[axis] != 0) {
          return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
        kernel.cluster[axis] = static_cast<std::int32_t>(cluster[axis]);
      }
    }
  }
  if (cooperative) {
    const std::uint64_t blocks = std::uint64_t{p.gridDimX} * p.gridDimY * p.gridDimZ;
    const std::uint64_t threads = std::uint64_t{p.blockDimX} * p.blockDimY * p.blockDimZ;
    const auto processors = static_cast<std::uint64_t>(
        current_context() != nullptr ? current_context()->device->model.multiprocessors : 1);
    if (blocks > processors * (2048 / std::max<std::uint64_t>(32, threads))) {
      return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** arguments, void** extra) {
  return launch(stream,
                parameters_of(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                              arguments, extra),
                nullptr, 0, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** arguments) {
  return launch(stream,
                parameters_of(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared,
                              arguments, nullptr),
                nullptr, 0, true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** arguments,
                          void** extra) {
  if (config == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return launch(config->hStream,
                parameters_of(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                              config->blockDimX, config->blockDimY, config->blockDimZ,
                              config->sharedMemBytes, arguments, extra),
                config->attrs, config->numAttrs, false);
}

}  // namespace gprofml::simgpu::driver
