#include "injection/recorder.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "injection/cupti_session.hpp"
#include "injection/facts.hpp"
#include "injection/names.hpp"
#include "injection/registrations.hpp"
#include "injection/writer.hpp"

namespace gprofml::injection {

std::atomic<Recorder*> current_recorder{nullptr};
__thread EventRing* current_ring = nullptr;
std::atomic<TimestampFunction> cupti_clock{nullptr};

namespace {

// How long the end of a program may be held up, at worst.
constexpr std::int64_t kFlushPatienceNs = 2'000'000'000;
constexpr std::int64_t kWritePatienceNs = 2'000'000'000;

constexpr int kThreadsThatMayExit = 31;

constexpr std::uint32_t kRingsBeforeWake = 64;

pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
bool handlers_are_registered = false;
pthread_key_t ring_key;
bool ring_key_exists = false;
// Once set nothing is ever recorded in this process.
std::atomic<bool> is_off{false};
std::atomic<bool> cuda_is_in_use{false};
std::atomic<bool> cuda_was_lost{false};
std::atomic<bool> nvtx_has_attached{false};
std::atomic<bool> is_simulated{false};
std::atomic<bool> simulator_was_looked_for{false};
// How far our exit handler is, in whatever thread it runs.
enum class ExitFlush : std::uint32_t { not_begun, under_way, done };
std::atomic<ExitFlush> exit_flush{ExitFlush::not_begun};

/// The simulator's libraries are preloaded and show this name. Never called with a lock of ours
/// held: dlsym() takes the dynamic linker's.
void look_for_simulator() {
  if (dlsym(RTLD_DEFAULT, "gprofml_simulated") != nullptr) {
    is_simulated.store(true, std::memory_order_relaxed);
  } else {
    dlerror();  // that it is not there is no error of the program's
  }
}

/// The facts that a forked child inherits the reasons for.
void post_inherited_facts(Mailbox& mailbox) {
  const bool simulated = is_simulated.load(std::memory_order_relaxed);
  if (simulated) mailbox.fact("simulated", "1");
  if (nvtx_has_attached.load(std::memory_order_relaxed)) mailbox.fact("nvtx", "recorded");
  if (!cuda_is_lost()) return;
  mailbox.fact("cuda",
               simulated ? "not recorded: this process was forked from one that had used CUDA, and "
                           "CUDA does not work in it; its NVTX times are of the wall clock, not "
                           "of the simulated one"
                         : "not recorded: this process was forked from one that had used CUDA, and "
                           "CUDA does not work in it");
}

void leave_ring(void* ring) {
  current_ring = nullptr;
  auto& left = *static_cast<EventRing*>(ring);
  Recorder* recorder = current_recorder.load(std::memory_order_acquire);
  if (recorder != nullptr && left.owner == recorder) recorder->rings.release(left);
}

void after_fork_in_child() {
  Recorder* parents = current_recorder.exchange(nullptr, std::memory_order_acq_rel);
  if (parents != nullptr) {
    parents->file.abandon();
    parents->segments.abandon();
  }
  current_ring = nullptr;
  // The thread that flushes is not here; its handler has been taken.
  if (exit_flush.load(std::memory_order_relaxed) == ExitFlush::under_way) {
    exit_flush.store(ExitFlush::done, std::memory_order_relaxed);
  }
  start_lock = PTHREAD_MUTEX_INITIALIZER;
  reset_name_registry_lock();
  reset_registrations_lock();
  if (!cuda_is_in_use.load(std::memory_order_relaxed)) return;
  // CUDA does not survive a fork, and CUPTI must not be called here again, not for the time either.
  cuda_was_lost.store(true, std::memory_order_relaxed);
  cupti_clock.store(nullptr, std::memory_order_relaxed);
}

Recorder* own_recorder() {
  Recorder* recorder = current_recorder.load(std::memory_order_acquire);
  // A child made without fork() (raw clone) has our memory but no writer.
  return recorder != nullptr && recorder->pid == getpid() ? recorder : nullptr;
}

void flush_everything(Recorder& recorder) {
  if (!is_simulated.load(std::memory_order_relaxed)) {
    look_for_simulator();
    if (is_simulated.load(std::memory_order_relaxed)) recorder.mailbox.fact("simulated", "1");
  }
  CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  if (session != nullptr && session->flush_everything(kFlushPatienceNs)) {
    session->is_flushed_at_exit.store(true, std::memory_order_release);
  } else if (session != nullptr) {
    recorder.mailbox.note("flush_timeout",
                          "CUPTI did not hand over its last records within 2 s of the program's "
                          "end; they are missing");
  }
  finish_writing(recorder, kWritePatienceNs);
}

void at_exit() {
  exit_flush.store(ExitFlush::under_way, std::memory_order_release);
  if (Recorder* recorder = own_recorder()) flush_everything(*recorder);
  exit_flush.store(ExitFlush::done, std::memory_order_release);
}

/// Several threads may call exit() at once. Until glibc 2.41 they then share the handlers out among
/// them, and one that finds none left ends the process in the middle of another's flush. So this is
/// a handler too, as many times as threads are to be expected. Handlers run last registered first:
/// whoever gets here, at_exit() was taken before, though perhaps by a thread that has not run since.
void wait_for_exit_flush() {
  const std::int64_t deadline_ns = monotonic_ns() + kFlushPatienceNs + kWritePatienceNs;
  const timespec pause{0, 1'000'000};
  while (exit_flush.load(std::memory_order_acquire) != ExitFlush::done &&
         monotonic_ns() < deadline_ns) {
    nanosleep(&pause, nullptr);
  }
}

/// CUPTI is not asked for what it recorded since our exit handler: CUDA may be gone by now, and a
/// crash here would be the program's. A buffer that it took and kept says that there is something.
void note_work_after_exit(Recorder& recorder) {
  const CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  if (session == nullptr || session->is_broken.load(std::memory_order_acquire) ||
      !session->is_flushed_at_exit.load(std::memory_order_acquire) ||
      session->buffers_out.load(std::memory_order_acquire) <= 0) {
    return;
  }
  recorder.mailbox.note("work_after_exit",
                        "exit handlers used CUDA after the recorder's own had run; what they did "
                        "may be missing");
}

/// Handlers that the program registered earlier run after ours and may still use NVTX.
__attribute__((destructor)) void at_unload() {
  Recorder* recorder = own_recorder();
  if (recorder == nullptr) return;
  note_work_after_exit(*recorder);
  finish_writing(*recorder, kWritePatienceNs);
}

void register_handlers() {
  if (handlers_are_registered) return;
  handlers_are_registered = true;
  for (int i = 0; i < kThreadsThatMayExit; ++i) atexit(wait_for_exit_flush);
  atexit(at_exit);
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  ring_key_exists = pthread_key_create(&ring_key, leave_ring) == 0;
}

/// The host's name, fit for a file's.
void host_name(utsname& system) {
  if (uname(&system) != 0 || system.nodename[0] == '\0') std::strcpy(system.nodename, "host");
  for (char* at = system.nodename; *at != '\0'; ++at) {
    if (*at == '/') *at = '_';
  }
}

Recorder* turn_off(const char* what, const char* detail) {
  is_off.store(true, std::memory_order_release);
  complain(what, detail);
  return nullptr;
}

void note_bad_option(const char* key, void* mailbox) {
  char detail[160];
  std::snprintf(detail, sizeof detail, "%s: the value of `%s` cannot be read; its default holds",
                spool::kOptionsVariable, key);
  static_cast<Mailbox*>(mailbox)->note("bad_option", detail);
}

/// Called with the lock held.
Recorder* make_recorder() {
  const char* folder = getenv("GPROFML_SPOOL_DIR");
  if (folder == nullptr || *folder == '\0') {
    is_off.store(true, std::memory_order_release);
    return nullptr;
  }
  auto* recorder = static_cast<Recorder*>(map_memory(sizeof(Recorder)));
  if (recorder == nullptr) return turn_off("nothing is recorded", "out of memory");
  new (recorder) Recorder;
  recorder->pid = getpid();
  recorder->start_ns = realtime_ns();
  recorder->started_ns = monotonic_ns();
  read_options(getenv(spool::kOptionsVariable), recorder->options, note_bad_option,
               &recorder->mailbox);
  utsname system{};
  host_name(system);
  if (!recorder->file.create(folder, system.nodename, recorder->start_ns)) {
    char detail[512];
    std::snprintf(detail, sizeof detail, "no spool can be made in %s: errno %d", folder, errno);
    return turn_off("nothing is recorded", detail);
  }
  if (!recorder->stream.start(recorder->file)) return turn_off("nothing is recorded", "no memory");
  post_process_facts(recorder->mailbox, system.nodename, recorder->options);
  post_inherited_facts(recorder->mailbox);
  recorder->segments.start(*recorder);
  recorder->window_pass.start(*recorder, folder);
  if (!write_pass(*recorder, WriteReason::start)) {
    write_last_words(*recorder);
    recorder->file.abandon();
    recorder->segments.abandon();
    is_off.store(true, std::memory_order_release);
    return nullptr;
  }
  register_handlers();
  if (!start_writer(*recorder)) return turn_off("nothing is recorded", "no thread can be started");
  current_recorder.store(recorder, std::memory_order_release);
  return recorder;
}

}  // namespace

void nvtx_is_attached(Recorder& recorder) {
  if (!nvtx_has_attached.exchange(true)) recorder.mailbox.fact("nvtx", "recorded");
}

bool cuda_is_lost() {
  return cuda_was_lost.load(std::memory_order_relaxed);
}

void cuda_is_used() {
  cuda_is_in_use.store(true, std::memory_order_relaxed);
}

Recorder* start_recorder() {
  if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) return recorder;
  if (is_off.load(std::memory_order_acquire)) return nullptr;
  const int saved_errno = errno;
  if (!simulator_was_looked_for.exchange(true)) look_for_simulator();
  pthread_mutex_lock(&start_lock);
  Recorder* recorder = current_recorder.load(std::memory_order_acquire);
  if (recorder == nullptr && !is_off.load(std::memory_order_acquire)) recorder = make_recorder();
  pthread_mutex_unlock(&start_lock);
  errno = saved_errno;
  return recorder;
}

void stop_recorder(Recorder& recorder) {
  is_off.store(true, std::memory_order_release);
  Recorder* expected = &recorder;
  current_recorder.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel);
}

namespace {

/// Waits for passes of the writer until `is_done`. False when the time is over before.
template <class Condition>
bool wait_for_writer(Recorder& recorder, std::int64_t timeout_ns, Condition is_done) {
  const std::int64_t deadline_ns = monotonic_ns() + timeout_ns;
  for (;;) {
    const std::uint32_t seen = recorder.pass_is_done.value();
    if (is_done()) return true;
    const std::int64_t left_ns = deadline_ns - monotonic_ns();
    if (left_ns <= 0) return false;
    recorder.pass_is_done.wait(seen, left_ns);
  }
}

}  // namespace

bool finish_writing(Recorder& recorder, std::int64_t timeout_ns) {
  const std::uint32_t wanted = recorder.finish_wanted.fetch_add(1, std::memory_order_acq_rel) + 1;
  recorder.work.raise();
  return wait_for_writer(recorder, timeout_ns, [&recorder, wanted] {
    return recorder.finished.load(std::memory_order_acquire) >= wanted;
  });
}

bool let_writer_catch_up(Recorder& recorder, std::int64_t timeout_ns) {
  const std::uint32_t begun = recorder.passes_begun.load(std::memory_order_acquire);
  const bool is_idle = recorder.passes_done.load(std::memory_order_acquire) == begun;
  if (is_idle && !recorder.buffers.has_full()) return true;
  // The pass that is under way may have looked already.
  announce_work(recorder);
  return wait_for_writer(recorder, timeout_ns, [&recorder, begun] {
    return recorder.passes_done.load(std::memory_order_acquire) > begun;
  });
}

EventRing* take_ring() {
  const int saved_errno = errno;
  Recorder* recorder = start_recorder();
  EventRing* ring = recorder == nullptr ? nullptr : recorder->rings.acquire(recorder);
  if (recorder != nullptr && ring == nullptr) {
    recorder->ranges_lost.fetch_add(1, std::memory_order_relaxed);
  }
  // Short-lived threads leave rings behind that only the writer can free.
  const bool many_rings = ring == nullptr || ring->slot % kRingsBeforeWake == kRingsBeforeWake - 1;
  if (recorder != nullptr && many_rings) announce_work(*recorder);
  if (ring != nullptr) {
    current_ring = ring;
    if (ring_key_exists) pthread_setspecific(ring_key, ring);
  }
  errno = saved_errno;
  return ring;
}

}  // namespace gprofml::injection
