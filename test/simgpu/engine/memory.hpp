// Memory of the simulated machine: real, zero-filled host memory in one reserved stretch per device
// (and one each for pinned and managed memory), handed out first fit, so that addresses are the
// same run over run. All of it needs the engine's lock.
#pragma once

#include <cstdint>

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

/// Device memory; 0 when the device has not that much left.
std::uint64_t allocate_device(Device& device, Context* context, std::uint64_t bytes,
                              MemoryPool* pool = nullptr);
/// Pinned or managed memory; 0 when there is none.
std::uint64_t allocate_host(Memory kind, Context* context, std::uint64_t bytes, unsigned flags);

/// Memory that the program owns becomes pinned.
CUresult register_host(std::uint64_t base, std::uint64_t bytes, Context* context, unsigned flags);

/// The allocation that starts at `base` or contains `address`, nullptr when there is none.
Allocation* allocation_at(std::uint64_t base);
Allocation* allocation_of(std::uint64_t address);

/// What an allocation of `bytes` takes of the device.
std::uint64_t rounded_allocation(std::uint64_t bytes);

/// Gives an allocation back (or ends its registration).
void release_allocation(Allocation* allocation);

/// Every allocation of a context goes.
void release_allocations_of(const Context* context);

/// What kind of memory an address is.
Memory memory_kind(std::uint64_t address);

/// Device variables of a program, which the runtime makes when a context needs them.
std::uint64_t allocate_variable(Device& device, Context* context, std::uint64_t bytes);

}  // namespace gprofml::simgpu
