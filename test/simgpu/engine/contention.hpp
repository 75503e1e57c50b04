// Kernels of a device that slow each other down, off unless the model has `contention_permille`: a
// kernel takes so much longer for each other one that runs when it starts. Those keep the end that
// they were given when they were submitted, so the order of submissions decides who is slowed down.
// Needs the engine's lock.
#pragma once

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

/// When a kernel ends that alone would end at `end_ns`. It counts for later ones from then on.
std::int64_t end_among_others(Device& device, std::int64_t start_ns, std::int64_t end_ns);

}  // namespace gprofml::simgpu
