// Copies and fills as operations.
#pragma once

#include "test/simgpu/cuda/common.hpp"

namespace gprofml::simgpu::driver {

/// A copy of a box of bytes between pointers.
struct Box {
  std::uint64_t target = 0;
  std::uint64_t source = 0;
  std::size_t width = 0;
  std::size_t height = 1;
  std::size_t depth = 1;
  std::size_t target_pitch = 0, target_slice = 0;
  std::size_t source_pitch = 0, source_slice = 0;
};

/// The operation, or an error when a pointer or its range is not valid. Needs the lock.
CUresult make_copy(const Box& box, bool asynchronous, Operation* operation);
CUresult make_copy(const CUDA_MEMCPY3D& parameters, bool asynchronous, Operation* operation);

CUresult make_fill(CUdeviceptr target, std::size_t pitch, unsigned value, unsigned element_bytes,
                   std::size_t width, std::size_t height, bool asynchronous, Operation* operation);

}  // namespace gprofml::simgpu::driver
