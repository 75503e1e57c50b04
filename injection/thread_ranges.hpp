// What the writer remembers of each thread's ranges while it records in windows: which open ones
// are those that are watched for, and which were held back because no window was known that they
// reach into. When a window opens the open ones that were held back are written, so that what
// encloses a window is in the recording, with its true start; those that end before are dropped.
#pragma once

#include "injection/event_ring.hpp"
#include "injection/windows.hpp"

namespace gprofml::injection {

struct Recorder;

/// Of the thread that a ring belongs to. Pages, given to the ring's slot when it is first needed.
struct ThreadRanges {
  static constexpr std::uint32_t kMostWatched = 16;
  static constexpr std::uint32_t kMostHeld = 512;
  static constexpr std::size_t kHeldBytes = std::size_t{64} * 1024;

  struct Watched {
    std::uint64_t id;
    std::uint32_t domain;
    std::uint32_t nested;  ///< open ranges of its domain inside it
  };
  struct Held {
    std::uint64_t range;  ///< of a start; 0: a push
    std::uint32_t domain;
    std::uint32_t at;
    std::uint32_t bytes;
  };

  std::uint32_t tid;
  std::uint32_t watched_count;
  std::uint32_t held_count;
  std::uint32_t held_bytes;
  std::uint64_t watched_ids;  ///< given so far
  Watched watched[kMostWatched];
  Held held[kMostHeld];
  alignas(8) unsigned char bytes[kHeldBytes];
};

/// The ranges of all threads. The writer thread's alone.
class RangesOfThreads {
 public:
  /// Looks through all rings for what opens and closes windows, tells `windows` in the order of
  /// time, and fixes how far the rings are read in this pass.
  void look_for_triggers(RingTable& rings, Windows& windows);

  /// Whether the event is written now; else it is dropped, or held back.
  bool is_wanted(EventRing& ring, const EventHeader& event, const Windows& windows);

  /// Calls `write(EventRing&, const EventHeader&)` for all that is held back, in order.
  template <class Write>
  void release(RingTable& rings, Write&& write) {
    rings.look_at_each([&](EventRing& ring) {
      ThreadRanges* ranges = of_[ring.slot];
      if (ranges == nullptr || ranges->tid != ring.tid) return;
      for (std::uint32_t i = 0; i < ranges->held_count; ++i) {
        write(ring, *reinterpret_cast<const EventHeader*>(ranges->bytes + ranges->held[i].at));
      }
      ranges->held_count = 0;
      ranges->held_bytes = 0;
    });
  }

 private:
  static constexpr std::uint32_t kMostTriggers = 8192;
  static constexpr std::uint32_t kMostOrphans = 256;

  ThreadRanges* of(const EventRing& ring);
  void look_at(EventRing& ring, const EventHeader& event, Windows& windows);
  void note(const Trigger& trigger, Windows& windows);
  void tell(Windows& windows);
  bool hold(ThreadRanges& ranges, const EventHeader& event, std::uint32_t domain,
            std::uint64_t range);
  bool drop_held(ThreadRanges& ranges, std::uint32_t domain, std::uint64_t range);

  ThreadRanges* of_[RingTable::kMostRings];
  Trigger triggers_[kMostTriggers];
  std::uint32_t trigger_count_;
  std::uint64_t orphans_[kMostOrphans];  ///< ends that came before their starts
  std::uint32_t orphan_at_;
};

}  // namespace gprofml::injection
