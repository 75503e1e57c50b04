#include "injection/cupti_session.hpp"

#include <sys/prctl.h>

#include <cstdio>
#include <new>

#include "injection/activity_records.hpp"
#include "injection/kinds.hpp"
#include "injection/last_threads.hpp"
#include "injection/recorder.hpp"

namespace gprofml::injection {
namespace {

constexpr char kSubscriberName[] = "gprof-ml";
// Of the program's choosing otherwise; CUPTI's own code runs on it.
constexpr std::size_t kFlusherStackBytes = 2u << 20;

// CUPTI's buffer callbacks carry no pointer of ours.
std::atomic<CuptiSession*> active_session{nullptr};

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* most_records) {
  const TimedCallback timed;
  CuptiSession& session = *active_session.load(std::memory_order_acquire);
  session.has_asked_for_buffers.store(true, std::memory_order_release);
  session.buffers_out.fetch_add(1, std::memory_order_relaxed);
  *buffer = session.recorder->buffers.request();
  *size = ActivityBuffers::kBytes;
  *most_records = 0;
  if (session.recorder->buffers.is_running_out()) announce_work(*session.recorder);
}

void CUPTIAPI on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                  std::size_t valid_bytes) {
  CuptiSession& session = *active_session.load(std::memory_order_acquire);
  ActivityBuffers& buffers = session.recorder->buffers;
  session.buffers_out.fetch_sub(1, std::memory_order_relaxed);
  std::uint64_t records = 0;
  if (buffers.is_shared(buffer)) {
    walk_records(session.library, buffer, valid_bytes, [&records](const RawRecord&) { ++records; });
  }
  buffers.complete(buffer, valid_bytes, records);
  if (buffers.is_running_out()) announce_work(*session.recorder);
}

void say_why_not(CuptiSession& session, CUptiResult result, const char* other_tool) {
  char text[320];
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
    std::snprintf(text, sizeof text,
                  "another tool records this program with CUPTI already%s%s: only one can; end it "
                  "or take it out of the program",
                  other_tool[0] != '\0' ? ", " : "", other_tool);
  } else if (result == CUPTI_ERROR_UNKNOWN) {
    std::snprintf(text, sizeof text,
                  "CUPTI refuses without a reason (999), which means as a rule that there is no "
                  "driver or a stub of it");
  } else {
    std::snprintf(text, sizeof text, "CUPTI refuses: %s (%d)", session.library.text(result),
                  static_cast<int>(result));
  }
  session.recorder->mailbox.fact("cuda", text);
}

bool subscribe(CuptiSession& session) {
  char other_tool[64] = {};
  CUptiResult result;
  if (session.library.subscribe_v2 != nullptr) {
    SubscriberParameters parameters{sizeof(SubscriberParameters), kSubscriberName, other_tool,
                                    sizeof other_tool};
    result =
        session.library.subscribe_v2(&session.subscriber, on_cupti_event, &session, &parameters);
  } else {
    result = session.library.Subscribe(&session.subscriber, on_cupti_event, &session);
  }
  if (result == CUPTI_SUCCESS) return true;
  other_tool[sizeof other_tool - 1] = '\0';
  say_why_not(session, result, other_tool);
  return false;
}

void set_attributes(CuptiSession& session) {
  if (session.library.ActivitySetAttribute == nullptr) return;
  // Else CUPTI zeroes each buffer in the program's thread.
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  const CUptiResult result = session.library.ActivitySetAttribute(
      CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed);
  if (result != CUPTI_SUCCESS) note_refusal(session, "buffers zeroed by us", result);
}

void flush(CuptiSession& session, bool forced) {
  if (session.is_broken.load(std::memory_order_acquire) ||
      !session.has_asked_for_buffers.load(std::memory_order_acquire)) {
    return;
  }
  session.library.ActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  std::size_t dropped = 0;
  if (session.library.ActivityGetNumDroppedRecords != nullptr &&
      session.library.ActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    session.recorder->cupti_dropped.fetch_add(dropped, std::memory_order_relaxed);
  }
  session.recorder->cost.flusher_cpu_ns.store(static_cast<std::uint64_t>(thread_cpu_ns()),
                                              std::memory_order_relaxed);
  announce_work(*session.recorder);
}

void* flush_until_the_end(void* argument) {
  auto& session = *static_cast<CuptiSession*>(argument);
  prctl(PR_SET_NAME, "gprof-ml");
  const std::int64_t started_ns = monotonic_ns();
  bool has_memory_kinds = true;
  this_thread_is_ours();
  while (current_recorder.load(std::memory_order_acquire) == session.recorder) {
    const std::uint32_t seen = session.work.value();
    const std::uint32_t wanted = session.flush_wanted.load(std::memory_order_acquire);
    const bool forced = wanted != session.flushed.load(std::memory_order_relaxed);
    flush(session, forced);
    if (has_memory_kinds && session.gives_up_memory.load(std::memory_order_relaxed)) {
      has_memory_kinds = false;
      disable_memory_kinds(session);
    }
    session.flush_rounds.fetch_add(1, std::memory_order_acq_rel);
    if (forced) {
      session.flushed.store(wanted, std::memory_order_release);
      session.flushed_signal.raise();
      continue;
    }
    session.work.wait(seen, growing_period_ns(monotonic_ns() - started_ns));
  }
  // Whoever still waits for the last flush must not wait for a thread that is gone.
  session.flushed.store(0xffffffffu, std::memory_order_release);
  session.flushed_signal.raise();
  disable_kinds(session);
  return nullptr;
}

bool start_activity(CuptiSession& session) {
  Mailbox& mailbox = session.recorder->mailbox;
  if (!session.recorder->buffers.start()) {
    mailbox.fact("cuda", "no memory for the buffers of CUPTI");
    return false;
  }
  active_session.store(&session, std::memory_order_release);
  const CUptiResult registered =
      session.library.ActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed);
  if (registered != CUPTI_SUCCESS) {
    say_why_not(session, registered, "");
    return false;
  }
  const CUptiResult kernels = enable_kinds(session);
  if (kernels != CUPTI_SUCCESS) {
    say_why_not(session, kernels, "");
  } else {
    mailbox.fact("cuda", "recorded");
  }
  return true;
}

}  // namespace

void note_refusal(CuptiSession& session, const char* what, CUptiResult result) {
  char detail[256];
  std::snprintf(detail, sizeof detail, "%s: %s (%d)", what, session.library.text(result),
                static_cast<int>(result));
  session.recorder->mailbox.note("not_enabled", detail);
}

bool CuptiSession::flush_everything(std::int64_t timeout_ns) {
  if (!has_asked_for_buffers.load(std::memory_order_acquire) ||
      is_broken.load(std::memory_order_acquire)) {
    return true;
  }
  const std::uint32_t wanted = flush_wanted.fetch_add(1, std::memory_order_acq_rel) + 1;
  work.raise();
  const std::int64_t deadline_ns = monotonic_ns() + timeout_ns;
  for (;;) {
    const std::uint32_t seen = flushed_signal.value();
    if (flushed.load(std::memory_order_acquire) >= wanted) return true;
    const std::int64_t left_ns = deadline_ns - monotonic_ns();
    if (left_ns <= 0) return false;
    flushed_signal.wait(seen, left_ns);
  }
}

void start_cupti(Recorder& recorder) {
  if (cuda_is_lost() || recorder.cupti_was_tried.exchange(true)) return;
  void* memory = map_memory(sizeof(CuptiSession));
  if (memory == nullptr) return;
  auto& session = *new (memory) CuptiSession;
  session.recorder = &recorder;
  if (!open_cupti(session.library, recorder.mailbox)) return;
  if (session.library.SetThreadIdType != nullptr) {
    session.library.SetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  }
  if (!subscribe(session)) return;
  set_attributes(session);
  // Visible to the writer before the first buffer can come back.
  recorder.session.store(&session, std::memory_order_release);
  enable_callbacks(session);
  if (!start_activity(session)) return;
  if (!start_thread(flush_until_the_end, &session, kFlusherStackBytes)) {
    recorder.mailbox.note("no_flush_thread",
                          "records reach the disk late: no thread could be started");
  }
}

}  // namespace gprofml::injection
