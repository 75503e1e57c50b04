// Managed memory on the move, by a model that is simple and said aloud. What the program touches is
// not seen, so an allocation (with global attachment) moves as a whole, at most twice:
//   to the device of the first kernel that starts after the allocation, with that kernel's start;
//   back to the host at the end of the first call after that which waits for the device.
// `managed_migrations` of the model says how many of the two there are. Prefetches move what they
// say, when their stream comes to it, and an allocation that one was made of does not move by
// itself any more. Transfers cost what a copy from pinned memory costs, one after the other, and
// make nobody wait.
#pragma once

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

// These need the engine's lock.

/// A managed allocation that has not moved yet.
void expect_migration(std::uint64_t base);
/// It is gone.
void forget_migration(std::uint64_t base);
/// A kernel starts here.
void migrate_for_kernel(const Placement& at);
void migrate_by_prefetch(Migration migration);

/// The calling thread has waited for the device. Takes the lock.
void migrate_to_host();

}  // namespace gprofml::simgpu
