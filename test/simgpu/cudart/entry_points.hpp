// What the generated entry points of the runtime build on (entry_points.py).
#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "test/simgpu/engine/api_scope.hpp"
#include "test/simgpu/engine/thread_state.hpp"

namespace gprofml::simgpu {

struct EntryPoint {
  const char* name;
  void* address;
};

namespace runtime {

/// Name of the kernel behind a host function's address or a cudaKernel_t; nullptr: no such.
const char* name_of_kernel(const void* function);

}  // namespace runtime

/// A runtime call. Its failure is the thread's last error; "not ready" is no failure.
template <class Parameters, class Body>
cudaError_t runtime_call(const ApiId& id, const Parameters& parameters, Body&& body) {
  const char* symbol = nullptr;
  if constexpr (requires { parameters.func, parameters.args; }) {
    symbol = runtime::name_of_kernel(parameters.func);
  }
  const cudaError_t result = api<cudaError_t>(id, parameters, body, symbol);
  if (result != cudaSuccess && result != cudaErrorNotReady) {
    this_thread().runtime_last_error = static_cast<std::uint32_t>(result);
  }
  return result;
}

/// For what is not simulated: says so on stderr, once a function.
cudaError_t not_supported(const char* name);

namespace runtime {

const std::vector<EntryPoint>& entry_points();

}  // namespace runtime
}  // namespace gprofml::simgpu
