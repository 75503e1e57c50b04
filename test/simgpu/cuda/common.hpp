// Helpers of the driver's functions.
#pragma once

#include <cuda.h>

#include "test/simgpu/engine/api_scope.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu::driver {

/// The stream behind a handle as the calling function means it (0 is the NULL stream, in a _ptsz
/// twin the thread's own); nullptr: no such stream, or no context.
inline Stream* stream_of(CUstream handle) {
  const ApiScope* scope = current_scope();
  return find_stream(current_context(), handle, scope != nullptr && scope->per_thread());
}

inline Device* device_of(CUdevice device) {
  return device >= 0 && static_cast<std::size_t>(device) < process_devices().size()
             ? &process_devices()[static_cast<std::size_t>(device)]
             : nullptr;
}

template <class Handle, class Object>
Handle handle(Object* object) {
  return reinterpret_cast<Handle>(object);
}

}  // namespace gprofml::simgpu::driver
