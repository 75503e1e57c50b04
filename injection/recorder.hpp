// The recording of one process: what all parts of the library share.
//
// There is one at a time. It comes into being at the first call of InitializeInjection or of NVTX,
// is never destroyed (threads of the program outlive every destructor), and is let go of in two
// ways: a forked child drops its parent's (and may start its own), and a spool that takes no more
// data ends the recording for good. Threads of the program only ever put events into rings, posts
// into the mailbox and buffers into the queue; all else is the writer thread's.
#pragma once

#include <atomic>
#include <cstdint>

#include "injection/activity_buffers.hpp"
#include "injection/cost.hpp"
#include "injection/event_ring.hpp"
#include "injection/mailbox.hpp"
#include "injection/options.hpp"
#include "injection/record_stream.hpp"
#include "injection/segments.hpp"
#include "injection/spool_file.hpp"
#include "injection/system.hpp"
#include "injection/window_pass.hpp"

namespace gprofml::injection {

class CuptiSession;

struct Recorder {
  int pid = 0;
  std::int64_t start_ns = 0;
  std::int64_t started_ns = 0;  ///< the same on the monotonic clock

  Options options;  ///< read once, before anything is recorded
  Mailbox mailbox;
  RingTable rings;
  ActivityBuffers buffers;
  std::atomic<std::uint64_t> ranges_lost{0};
  std::atomic<std::uint64_t> cupti_dropped{0};
  Cost cost;
  std::atomic<std::uint64_t> stacks_lost{0};    ///< no room for them; since last noted
  std::atomic<std::uint64_t> unopened_ends{0};  ///< since the writer last noted them, as these:
  std::atomic<std::uint64_t> unknown_handles{0};
  std::atomic<std::uint64_t> payloads_cut{0};
  std::atomic<std::uint64_t> samples_lost{0};
  std::atomic<std::uint64_t> registrations_lost{0};
  std::atomic<CuptiSession*> session{nullptr};
  std::atomic<bool> cupti_was_tried{false};

  // The writer: sleeps on `work`; `finish_wanted` counts requests to write everything out at once,
  // `finished` says how many it has served. Passes are counted for those that wait for one.
  Signal work;
  std::atomic<bool> work_is_announced{false};
  std::atomic<std::uint32_t> finish_wanted{0};
  std::atomic<std::uint32_t> finished{0};
  std::atomic<std::uint32_t> passes_begun{0};
  std::atomic<std::uint32_t> passes_done{0};
  Signal pass_is_done;

  SpoolFile file;  // the writer's alone, from here on
  RecordStream stream;
  Segments segments;
  WindowPass window_pass;
  std::uint64_t records_written = 0;  ///< of CUPTI
  bool end_is_written = false;
};

extern std::atomic<Recorder*> current_recorder;
extern __thread EventRing* current_ring;

/// The running recording; starts one when there is none yet and there may be one. nullptr: nothing
/// is recorded in this process.
Recorder* start_recorder();

/// NVTX hands its events to us, in this process and in those that it forks.
void nvtx_is_attached(Recorder& recorder);

/// CUDA is about to be initialised in this process; it will not work in a child that it forks.
void cuda_is_used();
/// This process was forked from one that had used CUDA. Neither CUDA nor CUPTI may be called here:
/// only NVTX is recorded, and its clock is CLOCK_REALTIME.
bool cuda_is_lost();

/// Ends the recording for good: events become no-ops. The writer's.
void stop_recorder(Recorder& recorder);

/// Has the writer write all it can get, and waits for it. False when it took too long.
bool finish_writing(Recorder& recorder, std::int64_t timeout_ns);

/// Waits until the writer has read every buffer that has come back so far; false when it took too
/// long.
bool let_writer_catch_up(Recorder& recorder, std::int64_t timeout_ns);

/// Wakes the writer before its time, at most once until it has woken.
inline void announce_work(Recorder& recorder) {
  if (!recorder.work_is_announced.load(std::memory_order_relaxed) &&
      !recorder.work_is_announced.exchange(true, std::memory_order_acq_rel)) {
    recorder.work.raise();
  }
}

EventRing* take_ring();

/// The calling thread's ring, nullptr when nothing is recorded.
inline EventRing* thread_ring() {
  EventRing* ring = current_ring;
  if (ring != nullptr && ring->owner == current_recorder.load(std::memory_order_acquire)) {
    return ring;
  }
  return take_ring();
}

/// Makes a committed event known: wakes the writer when the ring fills up.
inline void after_commit(EventRing& ring) {
  if (ring.is_half_full()) {
    if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
      announce_work(*recorder);
    }
  }
}

using TimestampFunction = int (*)(std::uint64_t*);  // cuptiGetTimestamp; CUptiResult is an int
extern std::atomic<TimestampFunction> cupti_clock;

/// The recording's time: CUPTI's clock once there is one, else CLOCK_REALTIME, which on a real
/// system is the same. Under the simulator's virtual clock CUPTI's time is each calling thread's
/// own; what the writer stamps (Status, chunks) is then wall time beside it.
inline std::int64_t now_ns() {
  const TimestampFunction clock = cupti_clock.load(std::memory_order_relaxed);
  std::uint64_t time_ns = 0;
  if (clock != nullptr && clock(&time_ns) == 0) return static_cast<std::int64_t>(time_ns);
  return realtime_ns();
}

}  // namespace gprofml::injection
