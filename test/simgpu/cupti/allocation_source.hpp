// Who asked for memory: the innermost caller that is not one of the simulated GPU's libraries.
#pragma once

#include <cstdint>

namespace gprofml::simgpu::cupti {

struct AllocationSource {
  std::uint64_t address = 0;   ///< of the instruction after the call
  const char* file = nullptr;  ///< the library or program; lives as long as the process
};

/// Of the calling thread's stack.
AllocationSource find_allocation_source();

}  // namespace gprofml::simgpu::cupti
