#include "test/simgpu/cupti/delivery.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include "test/simgpu/cupti/client.hpp"

namespace gprofml::simgpu::cupti {
namespace {

struct Queue {
  std::mutex mutex;
  std::condition_variable queued;
  std::condition_variable delivered;
  std::deque<CompletedBuffer> buffers;
  std::uint64_t buffers_queued = 0;
  std::uint64_t buffers_delivered = 0;
  std::chrono::milliseconds period{0};
  void (*periodic_work)() = nullptr;
  bool has_worker = false;
};

// Never destroyed: the worker outlives the destructors of static objects.
Queue& queue() {
  static Queue& instance = *new Queue;
  return instance;
}

thread_local bool on_worker = false;

void give_to_client(const CompletedBuffer& buffer) {
  if (const auto completed = client().buffer_completed.load()) {
    completed(nullptr, 0, buffer.bytes, buffer.size, buffer.valid_size);
  }
}

/// Gives the oldest buffer; the lock is open while the client's code runs.
void deliver_one(Queue& all, std::unique_lock<std::mutex>& lock) {
  const CompletedBuffer buffer = all.buffers.front();
  all.buffers.pop_front();
  lock.unlock();
  give_to_client(buffer);
  lock.lock();
  ++all.buffers_delivered;
  all.delivered.notify_all();
}

/// Sleeps until there is something to give. Periods are real time, whatever the GPU's clock.
void wait_for_work(Queue& all, std::unique_lock<std::mutex>& lock) {
  if (all.period.count() == 0) {
    all.queued.wait(lock);
    return;
  }
  if (all.queued.wait_for(lock, all.period) == std::cv_status::no_timeout) return;
  const auto work = all.periodic_work;
  lock.unlock();
  if (work != nullptr) work();
  lock.lock();
}

void work() {
  on_worker = true;
  Queue& all = queue();
  std::unique_lock lock{all.mutex};
  for (;;) {
    while (!all.buffers.empty()) deliver_one(all, lock);
    wait_for_work(all, lock);
  }
}

/// With all signals blocked, as the program's handlers must run on the program's threads.
void start_worker(Queue& all) {
  if (all.has_worker) return;
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  try {
    std::thread{work}.detach();
    all.has_worker = true;
  } catch (const std::system_error&) {
    // No thread to be had: wait_until_delivered does the work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void complete(const CompletedBuffer& buffer) {
  Queue& all = queue();
  const std::lock_guard lock{all.mutex};
  all.buffers.push_back(buffer);
  ++all.buffers_queued;
  start_worker(all);
  all.queued.notify_one();
}

void wait_until_delivered() {
  Queue& all = queue();
  std::unique_lock lock{all.mutex};
  const std::uint64_t target = all.buffers_queued;
  if (on_worker) return;
  if (!all.has_worker) {
    while (!all.buffers.empty()) deliver_one(all, lock);
    return;
  }
  all.delivered.wait(lock, [&] { return all.buffers_delivered >= target; });
}

void deliver_periodically(std::uint32_t milliseconds, void (*periodic_work)()) {
  Queue& all = queue();
  const std::lock_guard lock{all.mutex};
  all.period = std::chrono::milliseconds{milliseconds};
  all.periodic_work = periodic_work;
  if (milliseconds != 0) start_worker(all);
  all.queued.notify_one();
}

}  // namespace gprofml::simgpu::cupti
