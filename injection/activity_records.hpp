// CUPTI's activity records as the spool's.
#pragma once

#include "injection/recorder.hpp"

namespace gprofml::injection {

/// Writes the records of all buffers that have come back and returns the buffers to the pool.
void write_activity(Recorder& recorder);

}  // namespace gprofml::injection
