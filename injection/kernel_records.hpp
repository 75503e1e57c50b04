// Kernels as the spool's records. Of these a recording mostly consists, so their way is short:
// names, launch configurations and places are found again by comparing with what stood there last
// time, and only what is new goes through the dictionaries.
#pragma once

#include "injection/activity_layouts.hpp"
#include "injection/record_stream.hpp"

namespace gprofml::injection {

/// A pass of the writer begins. Once a pass each name is compared with what stood at its address
/// before: CUPTI may use an address again for another name once a module is unloaded. (The unload
/// waits for the end of a pass, see cupti_events.cpp, so that no pass sees both.)
void begin_kernels();

/// Writes a kernel of any CUPTI. The writer thread's alone.
void write_kernel(RecordStream& stream, const RawRecord& record);

}  // namespace gprofml::injection
