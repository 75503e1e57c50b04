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

/// When the calling thread's outermost call under way began, in the engine's time; now outside of
/// calls.
std::int64_t start_of_outermost_call();

}  // namespace gprofml::simgpu::cupti
