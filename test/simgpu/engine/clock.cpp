#include "test/simgpu/engine/clock.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "test/simgpu/engine/thread_state.hpp"

namespace gprofml::simgpu {
namespace {

std::atomic<std::int64_t> g_latest_ns{kEpochNs};

std::int64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void set_virtual(ThreadState& thread, std::int64_t time_ns) {
  thread.virtual_ns = time_ns;
  std::int64_t latest = g_latest_ns.load(std::memory_order_relaxed);
  while (latest < time_ns && !g_latest_ns.compare_exchange_weak(latest, time_ns)) {
  }
}

}  // namespace

bool clock_is_virtual() {
  static const bool is_virtual = [] {
    const char* clock = std::getenv("GPROFML_SIMGPU_CLOCK");
    return clock == nullptr || std::strcmp(clock, "wall") != 0;
  }();
  return is_virtual;
}

std::int64_t now_ns() {
  return clock_is_virtual() ? this_thread().virtual_ns : realtime_ns();
}

bool finished_by_now(std::int64_t end_ns) {
  return end_ns <= (clock_is_virtual() ? g_latest_ns.load() : realtime_ns());
}

void advance(std::int64_t cost_ns) {
  if (clock_is_virtual() && cost_ns > 0) {
    ThreadState& thread = this_thread();
    set_virtual(thread, thread.virtual_ns + cost_ns);
  }
}

void wait_until(std::int64_t time_ns) {
  if (clock_is_virtual()) {
    ThreadState& thread = this_thread();
    if (thread.virtual_ns < time_ns) {
      set_virtual(thread, time_ns);
    }
    return;
  }
  // A relative sleep would miss a step of the clock; an absolute one restarts after signals.
  const timespec until{static_cast<time_t>(time_ns / 1'000'000'000),
                       static_cast<long>(time_ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

}  // namespace gprofml::simgpu
