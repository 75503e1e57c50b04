#include "test/simgpu/engine/effects.hpp"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/thread_state.hpp"

namespace gprofml::simgpu {
namespace {

struct Queued {
  std::int64_t start_ns = 0;
  std::uint64_t number = 0;
  std::function<void()> effect;
};

/// The worker thread and its queue. Never destroyed: it runs until the process ends.
class Worker {
 public:
  std::uint64_t add(std::function<void()> effect, std::int64_t start_ns) {
    const std::lock_guard lock(mutex_);
    start();
    const std::uint64_t number = ++count_;
    pending_.insert(number);
    const std::int64_t time = clock_is_virtual() ? 0 : start_ns;
    queue_[{time, number}] = {start_ns, number, std::move(effect)};
    changed_.notify_all();
    return number;
  }

  Pending pending_of(const Pending& wanted) {
    const std::lock_guard lock(mutex_);
    Pending result;
    std::copy_if(wanted.begin(), wanted.end(), std::back_inserter(result),
                 [this](std::uint64_t number) { return pending_.count(number) != 0; });
    return result;
  }

  void wait(const Pending& wanted) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return std::none_of(wanted.begin(), wanted.end(),
                          [this](std::uint64_t number) { return pending_.count(number) != 0; });
    });
  }

 private:
  void start() {
    if (started_) {
      return;
    }
    started_ = true;
    // Signals are the program's; none of its handlers shall run on this thread.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread{};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    create_worker_thread(&thread, &attributes);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void create_worker_thread(pthread_t* thread, const pthread_attr_t* attributes) {
    ThreadState& creator = this_thread();
    pthread_create(
        thread, attributes,
        [](void* worker) -> void* {
          static_cast<Worker*>(worker)->run();
          return nullptr;
        },
        this);
    --creator.threads_created;  // not a thread of the program: its ordinal is given again
  }

  void run() {
    ThreadState& self = this_thread();
    self.is_worker = true;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !queue_.empty(); });
      const auto first = queue_.begin();
      if (!clock_is_virtual() && first->second.start_ns > now_ns()) {
        changed_.wait_for(lock, std::chrono::nanoseconds(first->second.start_ns - now_ns()));
        continue;
      }
      const Queued work = std::move(first->second);
      queue_.erase(first);
      lock.unlock();
      self.virtual_ns = work.start_ns;
      work.effect();
      lock.lock();
      pending_.erase(work.number);
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<std::int64_t, std::uint64_t>, Queued> queue_;
  std::set<std::uint64_t> pending_;
  std::uint64_t count_ = 0;
  bool started_ = false;
};

Worker& worker() {
  static auto* the_worker = new Worker;
  return *the_worker;
}

}  // namespace

Pending submit_effect(std::function<void()> effect, const Pending& after, bool always_queued,
                      std::int64_t start_ns) {
  Pending before = still_pending(after);
  if (!effect) {
    return before;
  }
  if (before.empty() && !always_queued) {
    run_after_unlock(std::move(effect));
    return {};
  }
  return {worker().add(std::move(effect), start_ns)};
}

Pending still_pending(const Pending& pending) {
  return pending.empty() ? pending : worker().pending_of(pending);
}

void wait_for(const Pending& pending) {
  if (!pending.empty()) {
    worker().wait(pending);
  }
}

Pending joined(const Pending& a, const Pending& b) {
  Pending result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result));
  return result;
}

}  // namespace gprofml::simgpu
