// Events of one thread on their way to the writer.
//
//   data  [ …free… | event event event … | …free… ]     byte offsets count up for ever, modulo size
//                  ^ tail (writer)       ^ head (thread)
//
// One thread produces, the writer consumes, neither waits for the other. When an event does not
// fit it is lost and counted; pushes and pops are lost in pairs: a push only goes in when the pops
// of all pushes that went in still fit behind it, and the thread remembers which open pushes were
// lost. A part of the ring is kept for the ends of ranges that other threads may have started.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "injection/names.hpp"

namespace gprofml::injection {

enum class EventKind : std::uint16_t {
  skip,  ///< nothing until the ring's end
  push,
  pop,
  mark,
  start,
  end,
  thread_name,
  graph_node,
  graph_edge,
  stack,
  payload,
  category_name,
  counter_sample,
  trigger,
};

enum class TextKind : std::uint8_t { none, inline_text, registered };

struct EventHeader {
  std::uint32_t bytes;
  EventKind kind;
  TextKind text;
  std::uint8_t has_extras = 0;
};

/// push, mark, start. Behind it the text, or the address of a RegisteredString, and with extras an
/// EventExtras.
struct NamedEvent {
  EventHeader header;
  std::int64_t time_ns;
  std::uint64_t range;  ///< start
  const Domain* domain;
  std::uint32_t category;
  std::uint32_t text_bytes;
};

/// pop, end.
struct ClosingEvent {
  EventHeader header;
  std::int64_t time_ns;
  std::uint64_t range;  ///< end
  const Domain* domain;
};

/// The text stands behind it.
struct ThreadNameEvent {
  EventHeader header;
  std::uint32_t tid;
  std::uint32_t text_bytes;
};

/// Colour and payloads; behind it the payloads, each a PayloadPart and its bytes, padded.
struct EventExtras {
  std::uint32_t color;
  std::uint16_t has_color;
  std::uint16_t parts;
};

struct PayloadPart {
  std::uint64_t schema;
  std::uint32_t bytes;        ///< that follow
  std::uint32_t whole_bytes;  ///< that the program gave
};

/// Payloads of a pop or an end, in front of it; behind it an EventExtras.
struct PayloadEvent {
  EventHeader header;
  std::uint64_t range;  ///< end; 0: the pop
  const Domain* domain;
};

/// The text stands behind it.
struct CategoryNameEvent {
  EventHeader header;
  const Domain* domain;
  std::uint32_t category;
  std::uint32_t text_bytes;
};

/// Behind it `bytes` bytes in the counter's own layout, padded.
struct CounterSampleEvent {
  EventHeader header;
  std::int64_t time_ns;
  std::uint64_t counter;
  const Domain* domain;
  std::uint64_t value;  ///< spool::CounterSample::value
  std::uint32_t form;   ///< spool::SampleForm
  std::uint32_t bytes;
};

/// Something that may open or close a window.
struct TriggerEvent {
  EventHeader header;
  std::int64_t time_ns;
  std::uint32_t trigger;  ///< TriggerKind
  std::uint32_t reserved;
};

struct GraphNodeEvent {
  EventHeader header;
  std::int64_t time_ns;
  std::uint64_t node;
  std::uint64_t original_node;
  std::uint32_t graph;
  std::uint32_t original_graph;
  std::uint32_t type;
  std::uint32_t reserved;
};

struct GraphEdgeEvent {
  EventHeader header;
  std::int64_t time_ns;
  std::uint64_t source;
  std::uint64_t target;
  std::uint32_t is_removed;
  std::uint32_t reserved;
};

/// Open pushes of one thread in one domain.
struct Nesting {
  std::uint32_t depth;
  std::uint32_t lost_from;    ///< levels from here on are lost, 0: none (levels from 64 on)
  std::uint64_t lost_levels;  ///< bit n: the push at depth n was lost
};

class EventRing {
 public:
  static constexpr std::size_t kBytes = 1u << 20;

  // --- the thread's side
  /// Room for an event of `bytes` (a multiple of 8) that leaves `headroom` bytes behind it, nullptr
  /// when there is none. What is written there becomes visible with commit().
  void* reserve(std::size_t bytes, std::size_t headroom);
  void commit(std::size_t bytes);
  bool is_half_full();

  /// Headroom for events that open something, and for those that close what another thread opened.
  std::size_t headroom_to_open() const { return kKeptForEnds + headroom_to_end(); }
  std::size_t headroom_to_end() const { return (open_pushes + 2) * sizeof(ClosingEvent); }

  Nesting& nesting(const Domain& domain) { return nesting_[domain.id]; }
  std::uint64_t next_range() { return (std::uint64_t{slot} + 1) << 40 | ++ranges_; }
  /// Whether next_range() of this ring has returned it.
  bool gave_range(std::uint64_t range) const { return range >> 40 == std::uint64_t{slot} + 1; }

  std::size_t open_pushes = 0;  ///< recorded ones, over all domains

  // --- the writer's side
  /// The same without taking them. The next drain() goes no further.
  template <class Handle>
  void scan(Handle&& handle) {
    std::uint64_t at = tail_.load(std::memory_order_relaxed);
    limit_ = head_.load(std::memory_order_acquire);
    is_limited_ = true;
    while (at != limit_) {
      const auto& event = *reinterpret_cast<const EventHeader*>(data_ + (at & (kBytes - 1)));
      if (event.kind != EventKind::skip) handle(event);
      at += event.bytes;
    }
  }
  /// Hands each event that is complete to `handle(const EventHeader&)`.
  template <class Handle>
  void drain(Handle&& handle) {
    std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    const std::uint64_t head = is_limited_ ? limit_ : head_.load(std::memory_order_acquire);
    is_limited_ = false;
    while (tail != head) {
      const auto& event = *reinterpret_cast<const EventHeader*>(data_ + (tail & (kBytes - 1)));
      if (event.kind != EventKind::skip) handle(event);
      tail += event.bytes;
      tail_.store(tail, std::memory_order_release);
    }
  }
  bool is_empty() const {
    return tail_.load(std::memory_order_relaxed) == head_.load(std::memory_order_acquire);
  }

  /// Prepares a recycled ring for its next thread.
  void start_over(std::uint32_t new_tid);

  const void* owner = nullptr;  ///< the Recorder it belongs to
  std::uint32_t slot = 0;
  std::uint32_t tid = 0;

  // The thread's own stack (stack_capture.hpp), end 0: not asked for yet; the last call whose stack
  // was taken.
  std::uint64_t stack_begin = 0;
  std::uint64_t stack_end = 0;
  std::uint32_t trigger_correlation = 0;  ///< of the last call that was a trigger
  std::uint32_t stack_correlation = 0;
  bool is_in_that_call = false;
  std::uint32_t written_stack = 0;  ///< the writer's: number of the last call's stack in the spool
  std::uint32_t written_stack_correlation = 0;

 private:
  static constexpr std::size_t kKeptForEnds = kBytes / 8;

  alignas(64) std::atomic<std::uint64_t> head_{0};
  std::uint64_t seen_tail_ = 0;
  std::uint64_t ranges_ = 0;
  std::size_t skipped_ = 0;
  alignas(64) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t limit_ = 0;  ///< the writer's: how far it reads
  bool is_limited_ = false;
  Nesting nesting_[kMostDomains];
  alignas(64) unsigned char data_[kBytes];
};

/// The rings of a process: a thread takes one at its first event and leaves it when it ends.
class RingTable {
 public:
  /// A ring for the calling thread, nullptr when all are taken or there is no memory.
  EventRing* acquire(const void* owner);
  /// The thread has ended; its ring is free for another once the writer has emptied it.
  void release(EventRing& ring);

  /// Calls `handle(EventRing&)` for each ring that may hold events. The writer's alone.
  template <class Handle>
  void for_each(Handle&& handle) {
    const std::uint32_t used = used_.load(std::memory_order_acquire);
    for (std::uint32_t slot = 0; slot < used; ++slot) {
      EventRing* ring = slots_[slot].ring.load(std::memory_order_acquire);
      const State state = slots_[slot].state.load(std::memory_order_acquire);
      if (ring == nullptr || state == State::free) continue;
      handle(*ring);
      if (state == State::left && ring->is_empty()) {
        slots_[slot].state.store(State::free, std::memory_order_release);
      }
    }
  }
  /// The same without letting go of any.
  template <class Handle>
  void look_at_each(Handle&& handle) {
    const std::uint32_t used = used_.load(std::memory_order_acquire);
    for (std::uint32_t slot = 0; slot < used; ++slot) {
      EventRing* ring = slots_[slot].ring.load(std::memory_order_acquire);
      if (ring == nullptr || slots_[slot].state.load(std::memory_order_acquire) == State::free) {
        continue;
      }
      handle(*ring);
    }
  }

  static constexpr std::uint32_t kMostRings = 4096;

 private:
  enum class State : int { taken, left, free };
  struct Slot {
    std::atomic<EventRing*> ring{nullptr};
    std::atomic<State> state{State::taken};
  };

  EventRing* reuse();

  std::atomic<std::uint32_t> used_{0};
  Slot slots_[kMostRings];
};

}  // namespace gprofml::injection
