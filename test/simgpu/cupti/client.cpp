#include "test/simgpu/cupti/client.hpp"

#include <pthread.h>

#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

std::atomic<bool> in_use{false};
std::atomic<bool> forked{false};
thread_local CUptiResult last_error = CUPTI_SUCCESS;

// A parent without a client has no lock held and nothing to lose: its child starts afresh.
void after_fork_in_child() {
  forked = forked || in_use;
}

/// The engine's time on a clock that somebody may have set in the meantime. A function of the time
/// alone, so that all threads see the same step.
std::int64_t stepped(std::int64_t engine_ns) {
  const ClockStep step = clock_step_fault();
  if (step.by_ns == 0) return engine_ns;
  static const std::int64_t first_asked_ns = now_ns();
  const std::int64_t zero_ns = clock_is_virtual() ? kEpochNs : first_asked_ns;
  return engine_ns >= zero_ns + step.at_ns ? engine_ns + step.by_ns : engine_ns;
}

}  // namespace

Client& client() {
  static Client& instance = *new Client;
  return instance;
}

bool in_forked_child() {
  return forked.load(std::memory_order_relaxed);
}

void mark_in_use() {
  static const int registered = pthread_atfork(nullptr, nullptr, after_fork_in_child);
  in_use = registered == 0;
}

CUptiResult answer(CUptiResult result) {
  if (result != CUPTI_SUCCESS) last_error = result;
  return result;
}

CUptiResult take_last_error() {
  const CUptiResult result = last_error;
  last_error = CUPTI_SUCCESS;
  return result;
}

std::uint64_t client_time(std::int64_t engine_ns) {
  const auto own_clock = client().timestamp.load(std::memory_order_relaxed);
  if (own_clock == nullptr) return static_cast<std::uint64_t>(stepped(engine_ns));
  const std::int64_t offset_ns = static_cast<std::int64_t>(own_clock()) - now_ns();
  return static_cast<std::uint64_t>(engine_ns + offset_ns);
}

std::uint32_t client_thread_id(std::uint64_t pthread, std::uint32_t tid) {
  const bool system = client().thread_id_type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return system ? tid : static_cast<std::uint32_t>(pthread);
}

}  // namespace gprofml::simgpu::cupti
