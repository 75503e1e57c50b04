// Names of kernels at the addresses that records point to. They stay valid for the process's life,
// unless a fault wants what was seen of CUPTI: the names of a module that is unloaded give way to
// those of the next one, under records that have not been read yet.
#pragma once

#include <cstdint>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

const char* name_for_client(const Kernel& kernel);

/// The module is about to be unloaded.
void release_names_of(std::uint32_t module_id);

}  // namespace gprofml::simgpu::cupti
