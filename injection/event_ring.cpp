#include "injection/event_ring.hpp"

#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {

void* EventRing::reserve(std::size_t bytes, std::size_t headroom) {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  const std::size_t contiguous = kBytes - (head & (kBytes - 1));
  skipped_ = contiguous < bytes ? contiguous : 0;
  const std::size_t wanted = skipped_ + bytes + headroom;
  if (head + wanted - seen_tail_ > kBytes) {
    seen_tail_ = tail_.load(std::memory_order_acquire);
    if (head + wanted - seen_tail_ > kBytes) return nullptr;
  }
  if (skipped_ > 0) {
    auto* skip = reinterpret_cast<EventHeader*>(data_ + (head & (kBytes - 1)));
    *skip = {static_cast<std::uint32_t>(skipped_), EventKind::skip, TextKind::none};
  }
  return data_ + ((head + skipped_) & (kBytes - 1));
}

void EventRing::commit(std::size_t bytes) {
  head_.store(head_.load(std::memory_order_relaxed) + skipped_ + bytes, std::memory_order_release);
}

bool EventRing::is_half_full() {
  const std::uint64_t head = head_.load(std::memory_order_relaxed);
  if (head - seen_tail_ <= kBytes / 2) return false;
  seen_tail_ = tail_.load(std::memory_order_acquire);
  return head - seen_tail_ > kBytes / 2;
}

void EventRing::start_over(std::uint32_t new_tid) {
  std::memset(nesting_, 0, sizeof nesting_);
  open_pushes = 0;
  tid = new_tid;
  stack_begin = stack_end = 0;
  stack_correlation = 0;
  is_in_that_call = false;
  written_stack = written_stack_correlation = 0;
  trigger_correlation = 0;
}

EventRing* RingTable::reuse() {
  const std::uint32_t used = used_.load(std::memory_order_acquire);
  for (std::uint32_t slot = 0; slot < used; ++slot) {
    State expected = State::free;
    if (slots_[slot].state.load(std::memory_order_relaxed) == State::free &&
        slots_[slot].state.compare_exchange_strong(expected, State::taken)) {
      return slots_[slot].ring.load(std::memory_order_acquire);
    }
  }
  return nullptr;
}

EventRing* RingTable::acquire(const void* owner) {
  if (EventRing* ring = reuse()) {
    ring->start_over(current_tid());
    return ring;
  }
  void* memory = map_memory(sizeof(EventRing));
  if (memory == nullptr) return nullptr;
  const std::uint32_t slot = used_.fetch_add(1, std::memory_order_acq_rel);
  if (slot >= kMostRings) {
    used_.store(kMostRings, std::memory_order_release);
    unmap_memory(memory, sizeof(EventRing));
    return nullptr;
  }
  auto* ring = static_cast<EventRing*>(memory);
  // Not constructed: the pages are zero, as a new ring is, and writing to them would take memory.
  ring->owner = owner;
  ring->slot = slot;
  ring->tid = current_tid();
  slots_[slot].ring.store(ring, std::memory_order_release);
  return ring;
}

void RingTable::release(EventRing& ring) {
  slots_[ring.slot].state.store(State::left, std::memory_order_release);
}

}  // namespace gprofml::injection
