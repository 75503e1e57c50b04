// What the observer and the log are told of allocations and pools. Memory of graphs' nodes, device
// variables and memory that the program registers are not told of. All of it needs the engine's
// lock.
#pragma once

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

/// The allocation that starts at `address` (nothing there: nothing is told); `stream`: of a
/// stream-ordered operation.
void tell_memory(MemoryOperation::What what, std::uint64_t address, const Stream* stream = nullptr);

void tell_pool(PoolOperation::What what, MemoryPool& pool, std::uint64_t bytes_to_keep = 0);

/// Gives a pool that the program made its address.
void name_pool(MemoryPool& pool);
/// Gives the pools of a device theirs.
void name_pools_of(Device& device);

}  // namespace gprofml::simgpu
