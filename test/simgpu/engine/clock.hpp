// Time. On the virtual clock every thread has its own time, which only modelled costs advance: what
// the machine is doing meanwhile cannot matter. On the wall clock it is CLOCK_REALTIME, and waiting
// really waits.
#pragma once

#include <cstdint>

namespace gprofml::simgpu {

inline constexpr std::int64_t kEpochNs = 1'764'547'200'000'000'000;  ///< 2025-12-01, any fixed time

/// Adds a modelled cost to the calling thread's time. Nothing on the wall clock.
void advance(std::int64_t cost_ns);

/// The calling thread waits until `time_ns`: its time is lifted, or it sleeps.
void wait_until(std::int64_t time_ns);

}  // namespace gprofml::simgpu
