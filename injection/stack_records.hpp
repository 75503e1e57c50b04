// Stacks from the rings as the spool's records. The writer's alone.
#pragma once

#include "injection/record_stream.hpp"
#include "injection/stack_capture.hpp"

namespace gprofml::injection {

/// Writes whose stack it is, and the stack itself when it is a new one.
void write_stack(RecordStream& stream, EventRing& ring, const StackEvent& event);

}  // namespace gprofml::injection
