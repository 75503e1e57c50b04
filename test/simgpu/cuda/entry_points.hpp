// What the generated entry points of the driver build on (entry_points.py).
#pragma once

#include <cuda.h>

#include <vector>

#include "test/simgpu/engine/api_scope.hpp"

namespace gprofml::simgpu {

struct EntryPoint {
  const char* name;
  void* address;
};

/// A driver call. Launches are known by their parameters.
template <class Parameters, class Body>
CUresult driver_call(const ApiId& id, const Parameters& parameters, Body&& body) {
  const char* symbol = nullptr;
  if constexpr (requires { parameters.f, parameters.kernelParams; }) {
    symbol = kernel_name(parameters.f);
  }
  return api<CUresult>(id, parameters, body, symbol);
}

namespace driver {

/// Every function that libcuda.so.1 has.
const std::vector<EntryPoint>& entry_points();

}  // namespace driver
}  // namespace gprofml::simgpu
