// Helpers of the runtime's functions.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "test/simgpu/engine/api_scope.hpp"
#include "test/simgpu/engine/thread_state.hpp"

namespace gprofml::simgpu::runtime {

/// Driver and runtime number their errors alike.
inline cudaError_t error_of(CUresult result) {
  return static_cast<cudaError_t>(result);
}

/// cuInit, without a context.
cudaError_t need_driver();

/// cuInit and the primary context of the thread's device, as the first call that needs it makes it.
cudaError_t need_context();

/// A stream as the driver's functions take it: in a _ptsz twin 0 is the thread's own stream.
CUstream stream_of(cudaStream_t stream);

/// Whether the call is a _ptsz or _ptds twin.
bool per_thread();

/// The primary context of a device, made when there is none yet; nullptr: it cannot be.
CUcontext primary_context(int device);

/// Makes a device's primary context the thread's current one.
cudaError_t use_device(int device);

/// Evaluates a driver call when there is a context.
template <class Call>
cudaError_t with_context(Call&& call) {
  const cudaError_t ready = need_context();
  return ready == cudaSuccess ? error_of(call()) : ready;
}

/// The kernel behind a host function's address or a cudaKernel_t; nullptr: no such.
CUfunction kernel_of(const void* function);

/// Where a device variable lives on the thread's device and how large it is; 0: no such.
struct Variable {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
};
Variable variable_of(const void* symbol);

/// Tells the driver about binaries that have been registered since.
void load_registered_binaries();

/// The programs of a device are gone with its context.
void forget_device_variables(int device);

}  // namespace gprofml::simgpu::runtime
