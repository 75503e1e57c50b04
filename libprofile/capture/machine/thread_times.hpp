// What Linux says of a thread: /proc/PID/task/TID/schedstat and stat.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gprofml::profile {

/// Since the thread began.
struct ThreadTimes {
  std::int64_t on_cpu_ns = 0;
  std::int64_t runnable_ns = 0;  ///< waiting for a CPU
  std::int64_t timeslices = 0;
  bool operator==(const ThreadTimes&) const = default;
};

/// The text of `schedstat`: "ON_CPU RUNNABLE TIMESLICES". nullopt for anything else.
std::optional<ThreadTimes> thread_times(std::string_view schedstat);

struct ThreadState {
  std::string name;
  std::int32_t last_cpu = -1;    ///< -1: not told
  std::int64_t start_ticks = 0;  ///< since the system's start
};

/// The text of `stat`. Names may hold anything, blanks and brackets too.
std::optional<ThreadState> thread_state(std::string_view stat);

}  // namespace gprofml::profile
