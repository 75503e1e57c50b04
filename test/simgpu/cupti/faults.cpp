#include "test/simgpu/cupti/faults.hpp"

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

std::uint64_t number(const char* name) {
  const char* text = fault(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
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

void read_record_faults() {
  dropped_record.restart(number("drop_every"));
  lost_timestamps.restart(number("zero_timestamps"));
}

bool drops_next_record() {
  return dropped_record.next();
}

bool loses_next_timestamps() {
  return lost_timestamps.next();
}

}  // namespace gprofml::simgpu::cupti
