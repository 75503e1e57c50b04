#include "injection/cost.hpp"

#include "injection/recorder.hpp"
#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

__thread std::uint32_t callbacks_of_thread = 0;

namespace {

constexpr std::int64_t kPeriodNs = 500'000'000;

/// One writer thread a process; a forked child's recording begins with a new recorder.
struct Written {
  const Recorder* by = nullptr;
  std::int64_t at_ns = 0;
};
Written written;

spool::Cost cost_so_far(const Recorder& recorder) {
  spool::Cost cost{};
  cost.time_ns = realtime_ns();
  cost.wall_ns = static_cast<std::uint64_t>(monotonic_ns() - recorder.started_ns);
  cost.callback_ns = recorder.cost.callback_ns.load(std::memory_order_relaxed);
  cost.writer_cpu_ns = thread_cpu_ns();
  cost.flusher_cpu_ns = recorder.cost.flusher_cpu_ns.load(std::memory_order_relaxed);
  cost.cupti_ns = recorder.cost.cupti_ns;
  return cost;
}

}  // namespace

bool cupti_is_on_the_systems_clock() {
  constexpr std::int64_t kHourNs = 3'600'000'000'000;
  const std::int64_t apart = now_ns() - realtime_ns();
  return apart < kHourNs && apart > -kHourNs;
}

std::uint64_t accounted_ns(const Recorder& recorder) {
  const spool::Cost cost = cost_so_far(recorder);
  return cost.callback_ns + cost.writer_cpu_ns + cost.flusher_cpu_ns +
         (cupti_is_on_the_systems_clock() ? cost.cupti_ns : 0);
}

void add_callback_time(std::int64_t elapsed_ns) {
  Recorder* recorder = current_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr || elapsed_ns < 0) return;
  recorder->cost.callback_ns.fetch_add(static_cast<std::uint64_t>(elapsed_ns),
                                       std::memory_order_relaxed);
}

void account_cost(Recorder& recorder, bool finish) {
  if (written.by != &recorder) written = {&recorder, recorder.started_ns};
  const std::int64_t now = monotonic_ns();
  if (!finish && now - written.at_ns < kPeriodNs) return;
  written.at_ns = now;
  recorder.stream.add(spool::RecordKind::cost, cost_so_far(recorder));
}

}  // namespace gprofml::injection
