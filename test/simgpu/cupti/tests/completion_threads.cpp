// Buffers given back on several threads at once: a program of its own, since the workers of a
// process are started once.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <set>
#include <thread>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;

int main() {
  constexpr std::uint32_t kThreads = 4;
  std::mutex mutex;
  std::condition_variable changed;
  std::set<std::thread::id> threads;
  test::Session session{{{"completion_threads", std::to_string(kThreads)}}};
  session.most_records = 1;
  // Each waits until all are within the callback: one thread alone would wait for ever.
  session.when_completed = [&] {
    std::unique_lock lock{mutex};
    threads.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait(lock, [&] { return threads.size() >= kThreads; });
  };
  test::check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  for (std::uint32_t id = 1; id <= 20; ++id) test::observer().submitted(test::kernel(id, 900'000));
  test::check(cuptiActivityFlushAll(0));
  const std::size_t records = session.records().size();
  std::printf("%zu records by %zu threads\n", records, threads.size());
  return records == 20 && threads.size() == kThreads ? 0 : 1;
}
