// Error names and texts, versions, and how programs find functions by name.
#include "test/simgpu/engine/error_names.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/entry_points.hpp"

namespace gprofml::simgpu::driver {
namespace {

/// The version at the end of a symbol (cuMemAlloc_v2: 2), 1 when there is none, 0 when the symbol
/// is not this function.
int version_of(const std::string& symbol, const std::string& name) {
  if (symbol.compare(0, name.size(), name) != 0) {
    return 0;
  }
  const std::string rest = symbol.substr(name.size());
  if (rest.empty()) {
    return 1;
  }
  return rest.size() == 3 && rest.compare(0, 2, "_v") == 0 ? rest[2] - '0' : 0;
}

void* find(const std::string& name, const std::string& twin) {
  void* best = nullptr;
  int best_version = 0;
  for (const EntryPoint& entry : entry_points()) {
    std::string symbol = entry.name;
    if (!twin.empty()) {
      if (symbol.size() <= twin.size() ||
          symbol.compare(symbol.size() - twin.size(), twin.size(), twin) != 0) {
        continue;
      }
      symbol.resize(symbol.size() - twin.size());
    }
    if (const int version = version_of(symbol, name); version > best_version) {
      best_version = version;
      best = entry.address;
    }
  }
  return best;
}

}  // namespace

CUresult cuGetErrorName(CUresult error, const char** text) {
  *text = error_name(static_cast<int>(error), true);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error_text(static_cast<int>(error));
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** address, int, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || address == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *address = nullptr;
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0) {
    *address = find(symbol, "_ptsz");
    if (*address == nullptr) {
      *address = find(symbol, "_ptds");
    }
  }
  if (*address == nullptr) {
    *address = find(symbol, "");
  }
  if (status != nullptr) {
    *status =
        *address != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  }
  return *address != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

}  // namespace gprofml::simgpu::driver
