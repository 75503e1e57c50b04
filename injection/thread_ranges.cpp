#include "injection/thread_ranges.hpp"

#include <cstring>

#include "injection/stack_capture.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

/// Told from ids of nvtxRangeStart, which begin with the ring's number, by this bit.
constexpr std::uint64_t kPushedRange = std::uint64_t{1} << 62;

bool has_name(const NamedEvent& event, const char* name) {
  const std::size_t bytes = std::strlen(name);
  const auto* behind = reinterpret_cast<const char*>(&event + 1);
  if (event.header.text == TextKind::inline_text) {
    return event.text_bytes == bytes && std::memcmp(behind, name, bytes) == 0;
  }
  if (event.header.text == TextKind::none) return false;
  const RegisteredString* registered;
  std::memcpy(&registered, behind, sizeof registered);
  return registered->bytes == bytes && std::memcmp(registered->text, name, bytes) == 0;
}

template <class Event>
const Event& as(const EventHeader& header) {
  return reinterpret_cast<const Event&>(header);
}

}  // namespace

ThreadRanges* RangesOfThreads::of(const EventRing& ring) {
  ThreadRanges*& ranges = of_[ring.slot];
  if (ranges == nullptr) ranges = static_cast<ThreadRanges*>(map_memory(sizeof(ThreadRanges)));
  if (ranges != nullptr && ranges->tid != ring.tid) {  // the ring is another thread's now
    ranges->tid = ring.tid;
    ranges->watched_count = 0;
    ranges->held_count = 0;
    ranges->held_bytes = 0;
  }
  return ranges;
}

// --- what opens and closes windows ---------------------------------------------------------------

void RangesOfThreads::look_for_triggers(RingTable& rings, Windows& windows) {
  rings.look_at_each([&](EventRing& ring) {
    ring.scan([&](const EventHeader& event) { look_at(ring, event, windows); });
  });
  tell(windows);
}

void RangesOfThreads::look_at(EventRing& ring, const EventHeader& event, Windows& windows) {
  if (event.kind == EventKind::trigger) {
    const auto& told = as<TriggerEvent>(event);
    return note({told.time_ns, 0, static_cast<TriggerKind>(told.trigger)}, windows);
  }
  const char* name = windows.watched_range();
  if (name == nullptr) return;
  switch (event.kind) {
    case EventKind::start:
      if (!has_name(as<NamedEvent>(event), name)) return;
      return note(
          {as<NamedEvent>(event).time_ns, as<NamedEvent>(event).range, TriggerKind::range_begins},
          windows);
    case EventKind::end:
      return note(
          {as<ClosingEvent>(event).time_ns, as<ClosingEvent>(event).range, TriggerKind::range_ends},
          windows);
    case EventKind::push: {
      const auto& push = as<NamedEvent>(event);
      ThreadRanges* ranges = of(ring);
      if (ranges == nullptr) return;
      for (std::uint32_t i = 0; i < ranges->watched_count; ++i) {
        if (ranges->watched[i].domain == push.domain->id) ++ranges->watched[i].nested;
      }
      if (ranges->watched_count == ThreadRanges::kMostWatched || !has_name(push, name)) return;
      const std::uint64_t id =
          kPushedRange | std::uint64_t{ring.slot} << 40 | (++ranges->watched_ids & 0xffffffffffu);
      ranges->watched[ranges->watched_count++] = {id, push.domain->id, 0};
      return note({push.time_ns, id, TriggerKind::range_begins}, windows);
    }
    case EventKind::pop: {
      const auto& pop = as<ClosingEvent>(event);
      ThreadRanges* ranges = of(ring);
      if (ranges == nullptr) return;
      for (std::uint32_t i = ranges->watched_count; i-- > 0;) {
        ThreadRanges::Watched& watched = ranges->watched[i];
        if (watched.domain != pop.domain->id) continue;
        if (watched.nested > 0) {
          --watched.nested;
          continue;
        }
        note({pop.time_ns, watched.id, TriggerKind::range_ends}, windows);
        --ranges->watched_count;
        std::memmove(&watched, &watched + 1,
                     (ranges->watched_count - i) * sizeof(ThreadRanges::Watched));
      }
      return;
    }
    default:
      return;
  }
}

void RangesOfThreads::note(const Trigger& trigger, Windows& windows) {
  if (trigger_count_ == kMostTriggers) tell(windows);
  triggers_[trigger_count_++] = trigger;
}

/// In the order of time, over all threads: they come thread by thread.
void RangesOfThreads::tell(Windows& windows) {
  for (std::uint32_t gap = trigger_count_ / 2; gap > 0; gap /= 2) {  // Shell's sort, in place
    for (std::uint32_t i = gap; i < trigger_count_; ++i) {
      const Trigger moved = triggers_[i];
      std::uint32_t at = i;
      // Of one time: ends go before beginnings only where they came so; equal ones keep their order
      // within a gap, and clocks of real machines hardly ever tie.
      for (; at >= gap && triggers_[at - gap].time_ns > moved.time_ns; at -= gap) {
        triggers_[at] = triggers_[at - gap];
      }
      triggers_[at] = moved;
    }
  }
  for (std::uint32_t i = 0; i < trigger_count_; ++i) windows.trigger(triggers_[i]);
  trigger_count_ = 0;
}

// --- what is held back ---------------------------------------------------------------------------

bool RangesOfThreads::hold(ThreadRanges& ranges, const EventHeader& event, std::uint32_t domain,
                           std::uint64_t range) {
  if (ranges.held_count == ThreadRanges::kMostHeld ||
      ranges.held_bytes + event.bytes > ThreadRanges::kHeldBytes) {
    return false;
  }
  ranges.held[ranges.held_count++] = {range, domain, ranges.held_bytes, event.bytes};
  std::memcpy(ranges.bytes + ranges.held_bytes, &event, event.bytes);
  ranges.held_bytes += event.bytes;
  return true;
}

/// Forgets the innermost push of the domain, or the start of that id, if it is held back.
bool RangesOfThreads::drop_held(ThreadRanges& ranges, std::uint32_t domain, std::uint64_t range) {
  for (std::uint32_t i = ranges.held_count; i-- > 0;) {
    const ThreadRanges::Held gone = ranges.held[i];
    if (gone.range != range || (range == 0 && gone.domain != domain)) continue;
    unsigned char* hole = ranges.bytes + gone.at;
    std::memmove(hole, hole + gone.bytes, ranges.held_bytes - gone.at - gone.bytes);
    ranges.held_bytes -= gone.bytes;
    --ranges.held_count;
    for (std::uint32_t later = i; later < ranges.held_count; ++later) {
      ranges.held[later] = ranges.held[later + 1];
      ranges.held[later].at -= gone.bytes;
    }
    return true;
  }
  return false;
}

bool RangesOfThreads::is_wanted(EventRing& ring, const EventHeader& event, const Windows& windows) {
  switch (event.kind) {
    case EventKind::push:
    case EventKind::start: {
      const auto& named = as<NamedEvent>(event);
      if (windows.may_reach(named.time_ns)) return true;
      for (std::uint64_t& orphan : orphans_) {
        if (event.kind != EventKind::start || orphan != named.range) continue;
        orphan = 0;
        return false;
      }
      ThreadRanges* ranges = of(ring);
      return ranges == nullptr || !hold(*ranges, event, named.domain->id, named.range);
    }
    case EventKind::pop: {
      ThreadRanges* ranges = of_[ring.slot];
      if (ranges == nullptr || ranges->tid != ring.tid) return true;
      return !drop_held(*ranges, as<ClosingEvent>(event).domain->id, 0);
    }
    case EventKind::end: {
      const std::uint64_t range = as<ClosingEvent>(event).range;
      const std::uint64_t slot = (range >> 40) - 1;
      ThreadRanges* ranges = slot < RingTable::kMostRings ? of_[slot] : nullptr;
      if (ranges != nullptr && drop_held(*ranges, 0, range)) return false;
      // Its start may be in a ring that has not been read yet, and be held back then.
      if (!ring.gave_range(range) && !windows.may_reach(as<ClosingEvent>(event).time_ns)) {
        orphans_[orphan_at_++ % kMostOrphans] = range;
      }
      return true;
    }
    case EventKind::mark:
      return windows.meets(as<NamedEvent>(event).time_ns, as<NamedEvent>(event).time_ns);
    case EventKind::counter_sample:
      return windows.meets(as<CounterSampleEvent>(event).time_ns,
                           as<CounterSampleEvent>(event).time_ns);
    case EventKind::payload: {  // of the pop or end behind it
      const auto& payload = as<PayloadEvent>(event);
      const std::uint64_t slot = payload.range == 0 ? ring.slot : (payload.range >> 40) - 1;
      const ThreadRanges* ranges = slot < RingTable::kMostRings ? of_[slot] : nullptr;
      if (ranges == nullptr) return true;
      for (std::uint32_t i = 0; i < ranges->held_count; ++i) {
        const ThreadRanges::Held& held = ranges->held[i];
        if (payload.range != 0 ? held.range == payload.range
                               : held.range == 0 && held.domain == payload.domain->id) {
          return false;
        }
      }
      return true;
    }
    case EventKind::stack:
      return windows.keeps_timeless() || as<StackEvent>(event).graph_node != 0;
    default:
      return true;
  }
}

}  // namespace gprofml::injection
