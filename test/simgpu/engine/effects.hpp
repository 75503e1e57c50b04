// What really happens when the GPU "works": bytes are moved and host functions are called. An
// effect whose predecessors are all done runs on the submitting thread at once; behind a host
// function it waits for the worker thread, which runs effects in the order of their submission
// (virtual clock) or at their time (wall clock).
#pragma once

#include <cstdint>
#include <functional>

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

/// Hands an effect in. `after` are its predecessors; `always_queued` keeps it off this thread.
/// Returns what a successor has to wait for: empty when nothing. Needs the engine's lock.
Pending submit_effect(std::function<void()> effect, const Pending& after, bool always_queued,
                      std::int64_t start_ns);

/// Those of the effects that have not run yet.
Pending still_pending(const Pending& pending);

/// Waits until all of them have run. Must not hold the engine's lock.
void wait_for(const Pending& pending);

/// a and b together.
Pending joined(const Pending& a, const Pending& b);

}  // namespace gprofml::simgpu
