// Stream-ordered allocation and release as operations. All of it needs the engine's lock.
#pragma once

#include "test/simgpu/cuda/common.hpp"

namespace gprofml::simgpu::driver {

/// The address is there at once, as the driver promises it, whenever the operation runs.
CUresult make_allocation(MemoryPool& pool, Context* context, std::size_t bytes,
                         Operation* operation);
CUresult make_release(std::uint64_t address, Operation* operation);

}  // namespace gprofml::simgpu::driver
