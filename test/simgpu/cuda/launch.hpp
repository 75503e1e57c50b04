// Kernel launches as operations.
#pragma once

#include "test/simgpu/cuda/common.hpp"

namespace gprofml::simgpu::driver {

/// The operation, or why the launch is refused. Needs the lock.
CUresult make_launch(const CUDA_KERNEL_NODE_PARAMS& parameters, const CUlaunchAttribute* attributes,
                     unsigned attribute_count, bool cooperative, Operation* operation);

}  // namespace gprofml::simgpu::driver
