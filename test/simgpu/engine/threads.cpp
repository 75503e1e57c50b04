// Threads of the program: their state, and pthread_create and pthread_join, which this library
// interposes (it is preloaded) so that virtual time follows threads: a new thread starts at its
// creator's time, and a join lifts the joiner to the end of the thread it waited for. Other ways in
// which host threads wait for each other are not modelled.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <mutex>

#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/thread_state.hpp"

namespace gprofml::simgpu {
namespace {

struct Ended {
  std::int64_t virtual_ns = 0;
  LoadedKernels loaded;
};

// Never destroyed: threads may end after static objects have.
std::mutex& ended_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}
std::map<pthread_t, Ended>& ended_threads() {
  static auto* ended = new std::map<pthread_t, Ended>;
  return *ended;
}

// Taken over by this_thread() at a thread's start.
thread_local std::int64_t t_start_ns = 0;
thread_local std::uint32_t t_ordinal = 0;
thread_local const LoadedKernels* t_loaded = nullptr;

struct Start {
  void* (*routine)(void*);
  void* argument;
  std::int64_t start_ns;
  std::uint32_t ordinal;
  LoadedKernels loaded;
};

/// Says when its thread ended, also when the thread ends by pthread_exit or is cancelled.
class EndOfThread {
 public:
  EndOfThread() = default;
  EndOfThread(const EndOfThread&) = delete;
  EndOfThread& operator=(const EndOfThread&) = delete;
  ~EndOfThread() {
    ThreadState& thread = this_thread();
    const std::lock_guard lock(ended_mutex());
    ended_threads()[pthread_self()] = {thread.virtual_ns, thread.loaded};
  }
};

void* run_thread(void* pointer) {
  const std::unique_ptr<Start> start(static_cast<Start*>(pointer));
  t_start_ns = start->start_ns;
  t_ordinal = start->ordinal;
  t_loaded = &start->loaded;
  const EndOfThread end;
  this_thread();  // takes over what it starts with
  t_loaded = nullptr;
  return start->routine(start->argument);
}

std::uint32_t system_tid() {
  return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

ThreadState* make_state() {
  auto* state = new ThreadState;
  state->tid = system_tid();
  const bool is_main = state->tid == static_cast<std::uint32_t>(getpid());
  state->virtual_ns = t_start_ns != 0 ? t_start_ns : kEpochNs;
  state->ordinal = t_ordinal != 0 ? t_ordinal : (is_main ? 1 : 0);
  if (t_loaded != nullptr) {
    state->loaded = *t_loaded;
  }
  log_thread(state->ordinal, state->tid);
  return state;
}

// A plain pointer: destructors of thread-specific data run after those of thread_local objects and
// may still call in here.
thread_local ThreadState* t_state = nullptr;

struct StateOwner {
  bool is_set = false;
  StateOwner() = default;
  StateOwner(const StateOwner&) = delete;
  StateOwner& operator=(const StateOwner&) = delete;
  ~StateOwner() {
    // The main thread's state outlives its destructors: atexit handlers still make calls.
    if (t_state != nullptr && t_state->ordinal != 1) {
      t_start_ns = t_state->virtual_ns;
      delete t_state;
      t_state = nullptr;
    }
  }
};
thread_local StateOwner t_owner;

/// Ordinals of threads that the main thread creates are 2, 3, ...; those of others are taken from a
/// range of their creator, so that creators cannot race for them.
std::uint32_t ordinal_of_new_thread(ThreadState& creator) {
  const std::uint32_t nth = ++creator.threads_created;
  return creator.ordinal <= 1 ? nth + 1 : creator.ordinal * 64 + nth;
}

}  // namespace

ThreadState& this_thread() {
  if (t_state == nullptr) {
    t_owner.is_set = true;  // makes the owner, whose destructor is what matters
    t_state = make_state();
  }
  return *t_state;
}

std::uint32_t next_id(IdKind kind) {
  static constexpr std::uint32_t kFirst[] = {100, 0, 0, 0};
  ThreadState& thread = this_thread();
  const std::uint32_t count = ++thread.ids[static_cast<int>(kind)] + kFirst[static_cast<int>(kind)];
  return thread.ordinal <= 1 ? count : (thread.ordinal << 18U) + count;
}

std::uint64_t next_event_record_id() {
  ThreadState& thread = this_thread();
  const std::uint32_t count = ++thread.ids[static_cast<int>(IdKind::event_record)];
  return thread.ordinal <= 1 ? count : (std::uint64_t{thread.ordinal} << 32U) + count;
}

}  // namespace gprofml::simgpu

extern "C" {

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                   void* argument) noexcept {
  using namespace gprofml::simgpu;
  static const auto next =
      reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  ThreadState& creator = this_thread();
  auto* start = new Start{routine, argument, creator.virtual_ns, ordinal_of_new_thread(creator),
                          creator.loaded};
  const int error = next(thread, attributes, run_thread, start);
  if (error != 0) {
    delete start;
  }
  return error;
}

int pthread_join(pthread_t thread, void** value) {
  using namespace gprofml::simgpu;
  static const auto next =
      reinterpret_cast<decltype(&pthread_join)>(dlsym(RTLD_NEXT, "pthread_join"));
  const int error = next(thread, value);
  if (error == 0 && clock_is_virtual()) {
    std::int64_t end_ns = 0;
    {
      const std::lock_guard lock(ended_mutex());
      const auto found = ended_threads().find(thread);
      if (found != ended_threads().end()) {
        end_ns = found->second.virtual_ns;
        this_thread().loaded.merge(found->second.loaded);
        ended_threads().erase(found);
      }
    }
    wait_until(end_ns);
  }
  return error;
}

}  // extern "C"
