#include "injection/activity_buffers.hpp"

#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

constexpr std::size_t kTouchedAtStart = 32;

bool is_zero(const unsigned char* bytes, std::size_t size) {
  return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

}  // namespace

bool ActivityBuffers::start() {
  pool_ = static_cast<unsigned char*>(map_memory((kCount + 1) * kBytes));
  if (pool_ == nullptr) return false;
  shared_ = pool_ + kCount * kBytes;
  // What most programs ever need has its pages from the start.
  std::memset(pool_, 0, kTouchedAtStart * kBytes);
  for (std::uint32_t index = kCount; index > 0; --index) push_free(index - 1);
  return true;
}

void ActivityBuffers::push_free(std::uint32_t index) {
  std::uint64_t top = free_.load(std::memory_order_relaxed);
  std::uint64_t changed;
  do {
    next_free_[index].store(static_cast<std::uint32_t>(top), std::memory_order_relaxed);
    changed = ((top >> 32) + 1) << 32 | index;
  } while (!free_.compare_exchange_weak(top, changed, std::memory_order_release,
                                        std::memory_order_relaxed));
  free_count_.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t ActivityBuffers::pop_free() {
  std::uint64_t top = free_.load(std::memory_order_acquire);
  for (;;) {
    const auto index = static_cast<std::uint32_t>(top);
    if (index == kNone) return kNone;
    const std::uint64_t next = next_free_[index].load(std::memory_order_relaxed);
    const std::uint64_t changed = ((top >> 32) + 1) << 32 | next;
    if (free_.compare_exchange_weak(top, changed, std::memory_order_acquire,
                                    std::memory_order_acquire)) {
      free_count_.fetch_sub(1, std::memory_order_relaxed);
      return index;
    }
  }
}

unsigned char* ActivityBuffers::request() {
  const std::uint32_t index = pop_free();
  if (index == kNone) return shared_;
  // Entered before it is counted: who asks which is the oldest sees all that are counted.
  const std::uint64_t number = requested_.load(std::memory_order_relaxed) + 1;
  out_as_[index].store(number, std::memory_order_release);
  requested_.fetch_add(1, std::memory_order_release);
  return pool_ + index * kBytes;
}

std::uint64_t ActivityBuffers::oldest_out() const {
  std::uint64_t oldest = UINT64_MAX;
  for (const std::atomic<std::uint64_t>& out_as : out_as_) {
    const std::uint64_t number = out_as.load(std::memory_order_acquire);
    if (number != 0 && number < oldest) oldest = number;
  }
  return oldest;
}

void ActivityBuffers::complete(unsigned char* data, std::size_t valid_bytes,
                               std::uint64_t records) {
  if (is_shared(data)) return count_discarded(records);
  const auto index = static_cast<std::size_t>(data - pool_) / kBytes;
  if (data < pool_ || index >= kCount) return;
  std::uint64_t number = out_as_[index].load(std::memory_order_relaxed);
  Full& full = descriptors_[index];
  full.data = data;
  full.valid_bytes = valid_bytes < kBytes ? valid_bytes : kBytes;
  full.next = full_.load(std::memory_order_relaxed);
  while (!full_.compare_exchange_weak(full.next, &full, std::memory_order_release,
                                      std::memory_order_relaxed)) {
  }
  // Unless it is out again already.
  out_as_[index].compare_exchange_strong(number, 0, std::memory_order_acq_rel);
}

ActivityBuffers::Full* ActivityBuffers::take_full() {
  Full* newest = full_.exchange(nullptr, std::memory_order_acquire);
  Full* oldest = nullptr;
  while (newest != nullptr) {
    Full* next = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = next;
  }
  return oldest;
}

void ActivityBuffers::give_back(Full& buffer) {
  std::memset(buffer.data, 0, buffer.valid_bytes);
  // CUPTI may say that less is valid than it wrote, as when a context takes its records along; it
  // would then find old bytes where it expects zeros. (Reading takes no memory, writing does.)
  unsigned char* const rest = buffer.data + buffer.valid_bytes;
  const std::size_t rest_bytes = kBytes - buffer.valid_bytes;
  if (!is_zero(rest, rest_bytes)) std::memset(rest, 0, rest_bytes);
  push_free(static_cast<std::uint32_t>(static_cast<std::size_t>(buffer.data - pool_) / kBytes));
}

}  // namespace gprofml::injection
