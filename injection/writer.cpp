#include "injection/writer.hpp"

#include <sys/prctl.h>

#include <cstdio>
#include <cstring>

#include "injection/activity_records.hpp"
#include "injection/cupti_session.hpp"
#include "injection/keep_budget.hpp"
#include "injection/last_threads.hpp"
#include "injection/size_limit.hpp"

namespace gprofml::injection {
namespace {

constexpr std::int64_t kStatusPeriodNs = 500'000'000;
constexpr std::size_t kStackBytes = 512 * 1024;
constexpr std::int64_t kLookAroundNs = 100'000'000;
constexpr std::int64_t kLastFlushNs = 2'000'000'000;

void write_messages(Recorder& recorder) {
  for (Message* message = recorder.mailbox.take_all(); message != nullptr;
       message = message->next) {
    if (message->is_fact) {
      recorder.stream.fact(message->key, message->value, message->value_bytes);
    } else {
      recorder.stream.note(message->key, message->value, message->count);
    }
  }
}

/// Ends of ranges that the program never opened. Counted and not recorded: they may be many.
void write_unopened_ends(Recorder& recorder) {
  const std::uint64_t count = recorder.unopened_ends.exchange(0, std::memory_order_relaxed);
  if (count == 0) return;
  recorder.stream.note("unopened_range_ends", "NVTX pops and ends with no range open", count);
}

/// Stacks that found no room in a ring.
void write_lost_stacks(Recorder& recorder) {
  const std::uint64_t count = recorder.stacks_lost.exchange(0, std::memory_order_relaxed);
  if (count == 0) return;
  recorder.stream.note("stacks_lost",
                       "call stacks that came faster than they could be written; their calls and "
                       "GPU work are there",
                       count);
}

spool::Status make_status(Recorder& recorder) {
  spool::Status status{};
  std::uint64_t cupti_ns = 0;
  const TimestampFunction clock = cupti_clock.load(std::memory_order_relaxed);
  status.monotonic_ns = monotonic_ns();
  status.realtime_ns = realtime_ns();
  if (clock != nullptr && clock(&cupti_ns) == 0) {
    status.cupti_ns = static_cast<std::int64_t>(cupti_ns);
  }
  status.cupti_dropped = recorder.cupti_dropped.load(std::memory_order_relaxed);
  status.discarded = recorder.buffers.discarded();
  status.ranges_lost = recorder.ranges_lost.load(std::memory_order_relaxed);
  status.unknown_records = recorder.buffers.unknown_records;
  status.incomplete_records = recorder.buffers.incomplete_records;
  status.writer_cpu_ns = thread_cpu_ns();
  return status;
}

/// Everything but the clocks.
bool same_counts(const spool::Status& a, const spool::Status& b) {
  return a.cupti_dropped == b.cupti_dropped && a.discarded == b.discarded &&
         a.ranges_lost == b.ranges_lost && a.unknown_records == b.unknown_records &&
         a.incomplete_records == b.incomplete_records;
}

/// Said at once: the closer the looks before and after, the clearer what lies on which side.
bool clock_was_set(const spool::Status& a, const spool::Status& b) {
  constexpr std::int64_t kLargestDriftNs = 1'000'000;
  const std::int64_t step = (a.realtime_ns - a.monotonic_ns) - (b.realtime_ns - b.monotonic_ns);
  return b.realtime_ns != 0 && (step > kLargestDriftNs || step < -kLargestDriftNs);
}

/// `at_once`: whether something has changed or not.
void write_status(Recorder& recorder, WriteReason reason, bool at_once) {
  // One writer thread a process; a forked child begins with its parent's value and corrects it.
  static spool::Status last{};
  if (reason == WriteReason::start) {
    last = {};
    return;
  }
  const spool::Status now = make_status(recorder);
  const bool due = now.monotonic_ns - last.monotonic_ns >= kStatusPeriodNs;
  if (!at_once && !due && same_counts(now, last) && !clock_was_set(now, last)) {
    return;
  }
  recorder.stream.add(spool::RecordKind::status, now);
  last = now;
}

void write_end(Recorder& recorder) {
  spool::End end{};
  end.time_ns = realtime_ns();
  end.reason = spool::EndReason::exit_handler;
  recorder.stream.add(spool::RecordKind::end, end);
  recorder.end_is_written = true;
}

void give_up(Recorder& recorder) {
  write_last_words(recorder);
  stop_recorder(recorder);
}

/// Nobody is left who could do anything. What CUPTI still holds is asked for, and the recording is
/// over; when its threads have ended, too, the process ends as it would have without them.
void end_with_the_last_thread(Recorder& recorder) {
  CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  if (session != nullptr) session->flush_everything(kLastFlushNs);
  write_pass(recorder, WriteReason::finish);
  stop_recorder(recorder);
  if (session != nullptr) session->work.raise();
}

/// The writer is gone: nobody is to wait for it.
void release_waiters(Recorder& recorder) {
  recorder.finished.store(0xffffffffu, std::memory_order_release);
  recorder.passes_done.store(0xffffffffu, std::memory_order_release);
  recorder.pass_is_done.raise();
}

void* write_until_the_end(void* argument) {
  auto& recorder = *static_cast<Recorder*>(argument);
  prctl(PR_SET_NAME, "gprof-ml");
  this_thread_is_ours();
  std::int64_t looked_ns = recorder.started_ns;
  for (;;) {
    const std::uint32_t seen = recorder.work.value();
    const std::uint32_t wanted = recorder.finish_wanted.load(std::memory_order_acquire);
    const bool finish = wanted != recorder.finished.load(std::memory_order_relaxed);
    recorder.passes_begun.fetch_add(1, std::memory_order_acq_rel);
    const bool written = write_pass(recorder, finish ? WriteReason::finish : WriteReason::periodic);
    const bool over = written && !recorder.end_is_written &&
                      (is_over_size_limit(recorder) || recorder.window_pass.is_stopped());
    if (!written || over) {
      if (over) end_at_size_limit(recorder);
      over ? stop_recorder(recorder) : give_up(recorder);
      release_waiters(recorder);
      return nullptr;
    }
    if (monotonic_ns() - looked_ns > kLookAroundNs) {
      looked_ns = monotonic_ns();
      if (we_are_alone()) {
        end_with_the_last_thread(recorder);
        release_waiters(recorder);
        return nullptr;
      }
    }
    if (finish) recorder.finished.store(wanted, std::memory_order_release);
    recorder.passes_done.fetch_add(1, std::memory_order_acq_rel);
    recorder.pass_is_done.raise();
    if (finish) continue;
    recorder.work.wait(seen, growing_period_ns(monotonic_ns() - recorder.started_ns));
    recorder.work_is_announced.store(false, std::memory_order_release);
  }
}

}  // namespace

bool write_pass(Recorder& recorder, WriteReason reason) {
  RecordStream& stream = recorder.stream;
  if (reason == WriteReason::start) forget_deferred_ends();
  WindowPass& windows = recorder.window_pass;
  write_messages(recorder);
  // What opens a window was put into a ring before any work in it could come back.
  windows.begin(recorder);
  ActivityBuffers::Full* buffers = recorder.buffers.take_full();
  windows.obey(recorder);
  recorder.rings.for_each([&](EventRing& ring) {
    ring.drain([&](const EventHeader& event) {
      if (windows.is_wanted(ring, event)) write_event(stream, ring, event);
    });
  });
  write_activity(recorder, buffers);
  write_deferred_ends(stream);
  write_unopened_ends(recorder);
  write_nvtx_losses(recorder);
  write_lost_stacks(recorder);
  windows.conclude(recorder, reason == WriteReason::finish);
  if (reason == WriteReason::finish && recorder.end_is_written && stream.empty()) return true;
  const bool at_once = recorder.segments.switch_when_due(recorder) || reason == WriteReason::finish;
  write_status(recorder, reason, at_once);
  account_cost(recorder, at_once);
  keep_budget(recorder);
  if (reason == WriteReason::finish) write_end(recorder);
  const bool is_written = stream.flush();
  if (is_written) windows.answer(recorder, recorder.end_is_written);
  return is_written;
}

void write_last_words(Recorder& recorder) {
  char why[160];
  std::snprintf(why, sizeof why,
                "the spool could not be written any more (errno %d); recording ended there",
                recorder.file.last_error());
  complain("recording stopped", why);
  recorder.stream.write_last_words(why);
}

bool start_writer(Recorder& recorder) {
  return start_thread(write_until_the_end, &recorder, kStackBytes);
}

}  // namespace gprofml::injection
