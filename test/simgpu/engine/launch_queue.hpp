// A stream's launch queue: with a limited length (`launch_queue_length` of the model) a submission
// that finds it full waits in its call until the oldest one there has ended. Needs the engine's
// lock, and keeps it while it waits, as a driver keeps its own.
#pragma once

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

void wait_for_room(Stream& stream);

/// What was submitted ends here. A graph's launch is one entry.
void enqueue(Stream& stream, std::int64_t end_ns);

}  // namespace gprofml::simgpu
