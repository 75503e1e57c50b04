// What recording costs, accounted while it happens: time in callbacks on the program's threads, CPU
// time of our own threads, and what CUPTI says of itself. Not in it: what CUPTI does inside each
// call that it records, which only a run without recording can show (`run --measure-overhead`).
#pragma once

#include <atomic>
#include <cstdint>

#include "injection/system.hpp"

namespace gprofml::injection {

struct Recorder;

struct Cost {
  std::atomic<std::uint64_t> callback_ns{0};     ///< on the program's threads, by sampling
  std::atomic<std::uint64_t> flusher_cpu_ns{0};  ///< of the thread that flushes
  std::uint64_t cupti_ns = 0;                    ///< CUPTI's overhead records; the writer's
};

/// Adds to the running recording's callback time.
void add_callback_time(std::int64_t elapsed_ns);

extern __thread std::uint32_t callbacks_of_thread;

/// Times one callback in 61 of a thread and counts it 61 times: two looks at the clock cost as much
/// as a callback. A prime, for callbacks come in patterns (push, pop, push, pop).
class TimedCallback {
 public:
  TimedCallback() : start_ns_(++callbacks_of_thread % kEvery == 0 ? monotonic_ns() : 0) {}
  TimedCallback(const TimedCallback&) = delete;
  TimedCallback& operator=(const TimedCallback&) = delete;
  ~TimedCallback() {
    if (start_ns_ != 0) add_callback_time((monotonic_ns() - start_ns_) * kEvery);
  }

 private:
  static constexpr std::uint32_t kEvery = 61;
  std::int64_t start_ns_;
};

/// False under the simulator's virtual clock, which runs as it likes.
bool cupti_is_on_the_systems_clock();

/// What of it adds up: everything but what CUPTI says on another clock than the system's (a
/// simulated one). The writer's.
std::uint64_t accounted_ns(const Recorder& recorder);

/// Writes what recording has cost so far, now and then. Called by the writer in each pass; `finish`
/// writes in any case.
void account_cost(Recorder& recorder, bool finish);

}  // namespace gprofml::injection
