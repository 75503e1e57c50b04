#include "test/simgpu/cupti/activity_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "test/simgpu/cupti/buffer_queue.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/delivery.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/overheads.hpp"
#include "test/simgpu/cupti/per_thread.hpp"

namespace gprofml::simgpu::cupti {
namespace {

using SharedQueue = std::shared_ptr<BufferQueue>;

/// All queues that may still hold a buffer. Never destroyed: programs flush from exit handlers.
struct Queues {
  std::mutex mutex;
  SharedQueue common = std::make_shared<BufferQueue>();
  std::vector<SharedQueue> all{common};
};

Queues& queues() {
  static Queues& instance = *new Queues;
  return instance;
}

/// The queue of one thread, for as long as the thread lives.
struct OwnQueue {
  SharedQueue queue = std::make_shared<BufferQueue>();

  OwnQueue() {
    const std::lock_guard lock{queues().mutex};
    queues().all.push_back(queue);
  }
  ~OwnQueue() {
    if (!in_forked_child()) queue->end_thread();
  }
  OwnQueue(const OwnQueue&) = delete;
  OwnQueue& operator=(const OwnQueue&) = delete;
};

std::atomic<std::size_t> dropped_records{0};
std::atomic<bool> per_thread{true};
std::atomic<bool> zeroed_by_client{false};

thread_local bool asking_client = false;

BufferQueue& queue_of_this_thread() {
  return per_thread ? *PerThread<OwnQueue>::get().queue : *queues().common;
}

/// Asks the client for a buffer of at least `size` bytes. One that is too small goes back empty.
Buffer ask_client(std::size_t size) {
  const auto request = client().buffer_requested.load();
  Buffer buffer;
  asking_client = true;
  request(&buffer.bytes, &buffer.size, &buffer.most_records);
  asking_client = false;
  if (buffer.bytes == nullptr) return buffer;
  const bool aligned = reinterpret_cast<std::uintptr_t>(buffer.bytes) % 8 == 0;
  if (buffer.size < size || !aligned) {
    complete({buffer.bytes, buffer.size, 0});
    return Buffer{};
  }
  if (!zeroed_by_client) std::memset(buffer.bytes, 0, buffer.size);
  return buffer;
}

void drop() {
  dropped_records.fetch_add(1, std::memory_order_relaxed);
}

std::vector<SharedQueue> all_queues() {
  Queues& registry = queues();
  const std::lock_guard lock{registry.mutex};
  auto& all = registry.all;
  all.erase(std::remove_if(all.begin(), all.end(),
                           [](const SharedQueue& queue) { return queue->is_done(); }),
            all.end());
  return all;
}

}  // namespace

void append_record(const void* record, std::size_t size, std::int64_t end_ns) {
  if (in_forked_child() || client().buffer_requested.load() == nullptr) return;
  // A client that makes CUDA calls when asked for a buffer would be asked again, without end.
  if (asking_client || drops_next_record()) return drop();
  BufferQueue& queue = queue_of_this_thread();
  bool asked = false;
  while (!queue.append(record, size, end_ns)) {
    Buffer buffer = ask_client(size);
    if (buffer.bytes == nullptr) return drop();
    queue.add(std::move(buffer));
    asked = true;
  }
  if (asked) record_buffer_request();
}

void collect(Flush flush) {
  if (in_forked_child()) return;
  for (const SharedQueue& queue : all_queues()) queue->collect(flush);
}

bool has_records() {
  const std::vector<SharedQueue> all = all_queues();
  return std::any_of(all.begin(), all.end(),
                     [](const SharedQueue& queue) { return queue->has_records(); });
}

std::size_t take_dropped_records() {
  return dropped_records.exchange(0);
}

void use_buffer_per_thread(bool use) {
  per_thread = use;
}

void trust_zeroed_buffers(bool trust) {
  zeroed_by_client = trust;
}

void abandon_buffers() {
  for (const SharedQueue& queue : all_queues()) queue->abandon();
}

}  // namespace gprofml::simgpu::cupti
