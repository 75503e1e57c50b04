// Which calls of the CUDA APIs are recorded.
//
// Level 1 records those that launch, copy, fill, synchronise, record and await events, allocate,
// free, load code, instantiate graphs, and register host memory. Level 2 records all but those that
// programs call all the time to ask where they are. Where graphs are recorded as a whole their
// launches are, whatever else is.
#pragma once

#include <cstdint>

namespace gprofml::injection {

/// `name` as CUPTI gives it, with suffixes: cudaMemcpyAsync_ptsz_v7000, cuMemFreeAsync_ptsz.
/// `groups`: bits of spool::Group.
bool is_recorded_call(const char* name, std::uint32_t groups);

/// Whether a call may put work on a GPU: launches, copies, fills.
bool submits_work(const char* name);

/// Whether a call is the one of that plain name: "GraphLaunch" for cudaGraphLaunch_v10000.
bool is_call(const char* name, const char* plain);

/// Whether any call is recorded.
bool records_calls(std::uint32_t groups);

}  // namespace gprofml::injection
