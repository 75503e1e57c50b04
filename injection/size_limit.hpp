// --max-size: the recording ends, the program runs on.
#pragma once

#include "injection/recorder.hpp"

namespace gprofml::injection {

/// Whether this process's spool alone has reached the limit of the whole recording. The launcher
/// watches all spools together; where there is none each process still has its bound.
bool is_over_size_limit(const Recorder& recorder);

/// Says so in the spool and ends it in an orderly way: the last that is written. The writer's.
void end_at_size_limit(Recorder& recorder);

}  // namespace gprofml::injection
