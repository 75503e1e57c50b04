// Calls under way on each thread, and the API callbacks at their entry and exit.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

void call_began(const ApiCall& call);
void call_ended(const ApiCall& call);

/// The context that was current in the calling thread's latest call; nullptr: none.
CUcontext current_context();

}  // namespace gprofml::simgpu::cupti
