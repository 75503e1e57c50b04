// How the runtime comes up: driver, primary context, the program's binaries; last errors.
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include <cupti_runtime_cbid.h>

#include "test/simgpu/cudart/common.hpp"
#include "test/simgpu/cudart/entry_points.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/error_names.hpp"
#include "test/simgpu/engine/observer.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu {

cudaError_t not_supported(const char* name) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(name).second) {
    std::fprintf(stderr, "simgpu: %s is not simulated\n", name);
  }
  return cudaErrorNotSupported;
}

namespace runtime {

cudaError_t need_driver() {
  return error_of(is_initialised() ? initialise() : cuInit(0));
}

cudaError_t need_context() {
  ThreadState& thread = this_thread();
  if (!thread.contexts.empty()) {
    return cudaSuccess;
  }
  const cudaError_t result = need_driver();
  if (result != cudaSuccess) {
    return result;
  }
  return use_device(thread.runtime_device);
}

CUcontext primary_context(int device) {
  {
    const EngineLock lock;
    std::deque<Device>& all = process_devices();
    const auto index = static_cast<std::size_t>(device);
    if (device >= 0 && index < all.size() && all[index].primary != nullptr) {
      return reinterpret_cast<CUcontext>(all[index].primary);
    }
  }
  CUcontext context = nullptr;
  cuDevicePrimaryCtxRetain(&context, device);
  return context;
}

cudaError_t use_device(int device) {
  const CUcontext context = primary_context(device);
  if (context == nullptr) {
    return cudaErrorInvalidDevice;
  }
  ThreadState& thread = this_thread();
  thread.runtime_device = device;
  if (reinterpret_cast<CUcontext>(current_context()) == context) {
    return cudaSuccess;
  }
  const cudaError_t result = error_of(cuCtxSetCurrent(context));
  if (result == cudaSuccess) {
    load_registered_binaries();
  }
  return result;
}

bool per_thread() {
  const ApiScope* scope = current_scope();
  return scope != nullptr && scope->per_thread();
}

CUstream stream_of(cudaStream_t stream) {
  return stream == nullptr && per_thread() ? CU_STREAM_PER_THREAD : stream;
}

}  // namespace runtime
}  // namespace gprofml::simgpu

// Not written by entry_points.py: the last error is read here, not set, and texts are not errors.
extern "C" {

cudaError_t cudaGetLastError() {
  using namespace gprofml::simgpu;
  const char none = 0;
  return api<cudaError_t>(
      {ApiCall::Domain::runtime, CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
       "cudaGetLastError_v3020", "cudaGetLastError", false},
      none, [] {
        const auto error = static_cast<cudaError_t>(this_thread().runtime_last_error);
        this_thread().runtime_last_error = 0;
        return error;
      });
}

cudaError_t cudaPeekAtLastError() {
  using namespace gprofml::simgpu;
  const char none = 0;
  return api<cudaError_t>(
      {ApiCall::Domain::runtime, CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
       "cudaPeekAtLastError_v3020", "cudaPeekAtLastError", false},
      none, [] { return static_cast<cudaError_t>(this_thread().runtime_last_error); });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

const char* cudaGetErrorName(cudaError_t error) {
  const char* name = gprofml::simgpu::error_name(static_cast<int>(error), false);
  return name != nullptr ? name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const char* text = gprofml::simgpu::error_text(static_cast<int>(error));
  return text != nullptr ? text : "unrecognized error code";
}

}  // extern "C"
