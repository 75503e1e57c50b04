// Copies as the runtime describes them, in the driver's terms.
#pragma once

#include "test/simgpu/cudart/common.hpp"

namespace gprofml::simgpu::runtime {

/// A box copy between pointers; a kind that contradicts the pointers is found by the driver's
/// types.
CUDA_MEMCPY3D box_2d(void* target, std::size_t target_pitch, const void* source,
                     std::size_t source_pitch, std::size_t width, std::size_t height,
                     cudaMemcpyKind kind);
CUDA_MEMCPY3D box_3d(const cudaMemcpy3DParms& parameters);
CUDA_MEMCPY3D box_1d(void* target, const void* source, std::size_t bytes, cudaMemcpyKind kind);

/// Whether the kind is one, and fits the kinds of memory.
bool fits(cudaMemcpyKind kind, const void* target, const void* source);

}  // namespace gprofml::simgpu::runtime
