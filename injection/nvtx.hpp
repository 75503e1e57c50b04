// The consumer of NVTX: fills the callback tables of each copy of NVTX in the process.
#pragma once

#include <cstdint>

namespace gprofml::injection {

/// Takes over the tables that `get_export_table` (an NvtxGetExportTableFunc_t) gives access to.
void attach_to_nvtx(const void* (*get_export_table)(std::uint32_t));

}  // namespace gprofml::injection
