#include "test/simgpu/cupti/delivery.hpp"

#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/faults.hpp"

namespace gprofml::simgpu::cupti {
namespace {

struct Queue {
  std::mutex mutex;
  std::condition_variable queued;
  std::condition_variable delivered;
  struct Numbered {
    CompletedBuffer buffer;
    std::uint64_t number;
  };
  std::deque<Numbered> buffers;
  std::uint64_t buffers_queued = 0;
  std::set<std::uint64_t> on_their_way;  ///< numbers: queued, or at the client
  std::chrono::milliseconds period{0};
  void (*periodic_work)() = nullptr;
  std::size_t workers = 0;
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
  const Queue::Numbered next = all.buffers.front();
  all.buffers.pop_front();
  lock.unlock();
  give_to_client(next.buffer);
  lock.lock();
  all.on_their_way.erase(next.number);
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
void start_workers(Queue& all) {
  if (all.workers != 0) return;
  sigset_t every;
  sigset_t before;
  sigfillset(&every);
  pthread_sigmask(SIG_SETMASK, &every, &before);
  try {
    for (std::size_t wanted = completion_threads_fault(); all.workers < wanted; ++all.workers) {
      std::thread{work}.detach();
    }
  } catch (const std::system_error&) {
    // No thread to be had: if there is none at all, wait_until_delivered does the work.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void complete(const CompletedBuffer& buffer) {
  Queue& all = queue();
  const std::lock_guard lock{all.mutex};
  all.buffers.push_back({buffer, ++all.buffers_queued});
  all.on_their_way.insert(all.buffers_queued);
  start_workers(all);
  all.queued.notify_one();
}

void wait_until_delivered() {
  Queue& all = queue();
  std::unique_lock lock{all.mutex};
  const std::uint64_t target = all.buffers_queued;
  if (on_worker) return;
  if (all.workers == 0) {
    while (!all.buffers.empty()) deliver_one(all, lock);
    return;
  }
  all.delivered.wait(
      lock, [&] { return all.on_their_way.empty() || *all.on_their_way.begin() > target; });
}

void deliver_periodically(std::uint32_t milliseconds, void (*periodic_work)()) {
  Queue& all = queue();
  const std::lock_guard lock{all.mutex};
  all.period = std::chrono::milliseconds{milliseconds};
  all.periodic_work = periodic_work;
  if (milliseconds != 0) start_workers(all);
  all.queued.notify_one();
}

}  // namespace gprofml::simgpu::cupti
