#include "test/simgpu/cupti/faults.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>

#include "test/simgpu/cupti/names.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

/// True once every `every` questions; 0: never.
struct Every {
  std::atomic<std::uint64_t> every{0};
  std::atomic<std::uint64_t> asked{0};

  void restart(std::uint64_t new_every) {
    asked = 0;
    every = new_every;
  }
  bool next() {
    const std::uint64_t n = every.load(std::memory_order_relaxed);
    return n != 0 && asked.fetch_add(1, std::memory_order_relaxed) % n == n - 1;
  }
};

Every dropped_record;
Every lost_timestamps;
Every reversed_timestamps;
Every early_start;
Every unknown_kind;

/// Values that records ask for.
std::atomic<std::size_t> longer_by{0};
std::atomic<std::size_t> shuffled{0};
std::atomic<bool> incomplete_at_forced_flush{false};
std::atomic<bool> buffers_held{false};
std::atomic<bool> context_loses_records{false};
std::atomic<bool> reused_names{false};

std::uint64_t number(const char* name) {
  const char* text = fault(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

std::int64_t signed_number(const char* name) {
  const char* text = fault(name);
  return text == nullptr ? 0 : std::strtoll(text, nullptr, 10);
}

CUptiResult result(const char* name) {
  return static_cast<CUptiResult>(number(name));
}

}  // namespace

CUptiResult subscribe_fault() {
  return result("subscribe");
}

const char* subscription_owner_fault() {
  const char* owner = fault("subscribe_owner");
  return owner == nullptr ? "another tool" : owner;
}

CUptiResult enable_fault(CUpti_ActivityKind kind) {
  const CUptiResult all = result("enable");
  const char* name = kKindNames.at(static_cast<std::size_t>(kind));
  if (all != CUPTI_SUCCESS || name == nullptr) return all;
  return result((std::string{"enable."} + name).c_str());
}

bool flush_hangs_fault() {
  return number("flush_hangs") != 0;
}

const char* fatal_error_fault() {
  return fault("fatal_error");
}

std::uint32_t version_fault() {
  return static_cast<std::uint32_t>(number("version"));
}

std::size_t completion_threads_fault() {
  return std::clamp<std::size_t>(number("completion_threads"), 1, 64);
}

ClockStep clock_step_fault() {
  return {signed_number("clock_step_at_ns"), signed_number("clock_step_ns")};
}

void read_record_faults() {
  dropped_record.restart(number("drop_every"));
  lost_timestamps.restart(number("zero_timestamps"));
  reversed_timestamps.restart(number("reversed_timestamps"));
  early_start.restart(number("early_starts"));
  unknown_kind.restart(number("unknown_kind"));
  longer_by = number("longer_records") / 8 * 8;
  shuffled = number("shuffled_records");
  incomplete_at_forced_flush = number("incomplete_at_forced_flush") != 0;
  buffers_held = number("buffers_held") != 0;
  context_loses_records = number("context_loses_records") != 0;
  reused_names = number("reused_names") != 0;
}

bool drops_next_record() {
  return dropped_record.next();
}

TimesFault next_times_fault() {
  // All are asked, so that each counts every activity.
  const bool zero = lost_timestamps.next();
  const bool reversed = reversed_timestamps.next();
  const bool early = early_start.next();
  if (zero) return TimesFault::zero;
  if (reversed) return TimesFault::reversed;
  return early ? TimesFault::early : TimesFault::none;
}

std::size_t longer_records_fault() {
  return longer_by.load(std::memory_order_relaxed);
}

bool unknown_kind_follows() {
  return unknown_kind.next();
}

bool has_unknown_kind() {
  return unknown_kind.every.load(std::memory_order_relaxed) != 0;
}

std::size_t shuffled_records_fault() {
  return shuffled.load(std::memory_order_relaxed);
}

bool incomplete_at_forced_flush_fault() {
  return incomplete_at_forced_flush;
}

bool buffers_held_fault() {
  return buffers_held.load(std::memory_order_relaxed);
}

bool context_loses_records_fault() {
  return context_loses_records;
}

bool reused_names_fault() {
  return reused_names.load(std::memory_order_relaxed);
}

}  // namespace gprofml::simgpu::cupti
