// Sixteen threads that make records while another one flushes: nothing may be lost or come twice.
// Also built with ThreadSanitizer, which is why it is a program of its own.
#include <cupti.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;

namespace {

constexpr std::uint32_t kThreads = 16;
constexpr std::uint32_t kRecords = 3000;

/// Counts what comes back; a record seen twice, or missing, is a fault.
struct Client {
  std::mutex mutex;
  std::vector<std::uint8_t*> pool;
  std::set<std::uint32_t> kernels;
  std::set<std::uint32_t> calls;
  std::size_t twice = 0;
  std::size_t unfinished = 0;

  static constexpr std::size_t kBufferSize = 16384;

  static Client& get() {
    static Client& instance = *new Client;
    return instance;
  }

  static void requested(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
    Client& own = get();
    *size = kBufferSize;
    *most_records = 0;
    const std::lock_guard lock{own.mutex};
    if (own.pool.empty()) {
      *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferSize));
      return;
    }
    *buffer = own.pool.back();
    own.pool.pop_back();
  }

  static void completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                        std::size_t valid_size) {
    Client& own = get();
    const std::lock_guard lock{own.mutex};
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = cuptiActivityGetNextRecord(buffer, valid_size, &record)) == CUPTI_SUCCESS) {
      own.count(record);
    }
    if (result != CUPTI_ERROR_MAX_LIMIT_REACHED) ++own.unfinished;
    own.pool.push_back(buffer);
  }

  void count(const CUpti_Activity* record) {
    bool is_new = false;
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
      is_new = kernels.insert(kernel->correlationId).second;
    } else {
      const auto* call = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      is_new = calls.insert(call->correlationId).second;
    }
    if (!is_new) ++twice;
  }
};

void produce(std::uint32_t thread) {
  fake::Engine& engine = fake::engine();
  for (std::uint32_t i = 0; i < kRecords; ++i) {
    const std::uint32_t correlation = thread * kRecords + i + 1;
    const ApiCall call = test::launch_call(correlation);
    test::observer().api_enter(call);
    // Every so often a kernel ends far ahead of the clock.
    const std::int64_t ahead = i % 100 == 0 ? 20'000 : 10;
    test::observer().submitted(test::kernel(correlation, engine.now_ns.fetch_add(20) + ahead));
    test::observer().api_exit(call);
  }
}

void run(bool is_virtual, std::uint8_t per_thread) {
  Client& client = Client::get();
  client.kernels.clear();
  client.calls.clear();
  fake::engine().is_virtual = is_virtual;
  std::size_t size = sizeof per_thread;
  test::check(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size,
                                        &per_thread));
  std::atomic<bool> done{false};
  std::thread flusher{[&done] {
    while (!done) test::check(cuptiActivityFlushAll(0));
  }};
  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(produce, thread);
  for (std::thread& thread : threads) thread.join();
  done = true;
  flusher.join();
  fake::engine().now_ns += 1'000'000;
  test::check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

bool is_complete(const char* what) {
  Client& client = Client::get();
  std::size_t dropped = 0;
  test::check(cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped));
  const std::size_t expected = std::size_t{kThreads} * kRecords;
  const bool complete = client.kernels.size() == expected && client.calls.size() == expected &&
                        client.twice == 0 && client.unfinished == 0 && dropped == 0;
  std::printf("%s: %zu kernels, %zu calls of %zu; %zu twice, %zu unfinished, %zu dropped: %s\n",
              what, client.kernels.size(), client.calls.size(), expected, client.twice,
              client.unfinished, dropped, complete ? "ok" : "WRONG");
  return complete;
}

}  // namespace

int main() {
  fake::reset_engine();
  test::check(cuptiActivityRegisterCallbacks(Client::requested, Client::completed));
  CUpti_SubscriberHandle subscriber = nullptr;
  static std::atomic<std::size_t> heard{0};
  const auto listen = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) { ++heard; };
  test::check(cuptiSubscribe(&subscriber, listen, nullptr));
  test::check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API));
  test::check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  test::check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  test::check(cuptiActivityFlushPeriod(1));
  bool good = true;
  run(true, 1);
  good = is_complete("virtual clock, a buffer a thread") && good;
  run(false, 1);
  good = is_complete("wall clock, a buffer a thread") && good;
  run(false, 0);
  good = is_complete("wall clock, one buffer for all") && good;
  const std::size_t calls = std::size_t{3} * kThreads * kRecords;
  if (heard != 2 * calls) {
    std::printf("%zu callbacks for %zu calls: WRONG\n", heard.load(), calls);
    good = false;
  }
  return good ? 0 : 1;
}
