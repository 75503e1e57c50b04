// Which calls of the CUDA APIs level 1 records: those that launch, copy, fill, synchronise, record
// and await events, allocate, free, load code, instantiate graphs, and register host memory.
#pragma once

namespace gprofml::injection {

/// `name` as CUPTI gives it, with suffixes: cudaMemcpyAsync_ptsz_v7000, cuMemFreeAsync_ptsz.
bool is_recorded_call(const char* name);

}  // namespace gprofml::injection
