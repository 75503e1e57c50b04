#include "test/simgpu/cupti/activity_buffers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "test/simgpu/cupti/buffer_queue.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/delivery.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/newer_records.hpp"
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
    if (!in_forked_child()) end();
  }
  void end();
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

/// Writes into the client's memory, asking the client for more of it when it is full. Returns
/// whether it asked.
bool write(BufferQueue& queue, const void* record, std::size_t size, std::int64_t end_ns) {
  bool asked = false;
  while (!queue.append(record, size, end_ns)) {
    Buffer buffer = ask_client(size);
    asked = true;
    if (buffer.bytes == nullptr) {
      drop();
      break;
    }
    queue.add(std::move(buffer));
  }
  return asked;
}

bool write(BufferQueue& queue, const HeldRecord& record) {
  return write(queue, record.bytes.data(), record.bytes.size(), record.end_ns);
}

/// Writes the record as a fault wants it: longer, or another one that was held back in its place.
bool write_otherwise(BufferQueue& queue, const void* record, std::size_t size,
                     std::int64_t end_ns) {
  HeldRecord next;
  const auto* bytes = static_cast<const std::uint8_t*>(record);
  next.bytes.assign(bytes, bytes + size);
  next.bytes.resize(size + longer_records_fault(), kAddedByte);
  next.end_ns = end_ns;
  const std::size_t most_held = shuffled_records_fault();
  if (most_held == 0) return write(queue, next);
  const std::optional<HeldRecord> drawn = queue.exchange(std::move(next), most_held);
  return drawn && write(queue, *drawn);
}

/// What is held back has nobody to be exchanged with any more.
void OwnQueue::end() {
  while (std::optional<HeldRecord> record = queue->take_held()) write(*queue, *record);
  queue->end_thread();
}

}  // namespace

void append_record(const void* record, std::size_t size, std::int64_t end_ns) {
  if (in_forked_child() || client().buffer_requested.load() == nullptr) return;
  // A client that makes CUDA calls when asked for a buffer would be asked again, without end.
  if (asking_client || drops_next_record()) return drop();
  BufferQueue& queue = queue_of_this_thread();
  const bool as_it_is = longer_records_fault() == 0 && shuffled_records_fault() == 0;
  bool asked =
      as_it_is ? write(queue, record, size, end_ns) : write_otherwise(queue, record, size, end_ns);
  if (unknown_kind_follows()) {
    const UnknownRecord unknown;
    asked = write_otherwise(queue, &unknown, sizeof unknown, kFinished) || asked;
  }
  if (asked) record_buffer_request();
}

void collect(Flush flush) {
  if (in_forked_child()) return;
  // What becomes of buffers must not depend on when somebody flushes, nor then what is held back.
  if (buffers_held_fault() && flush < Flush::forced) return;
  std::size_t lost = 0;
  for (const SharedQueue& queue : all_queues()) {
    if (flush == Flush::forced) {
      while (std::optional<HeldRecord> record = queue->take_held()) write(*queue, *record);
    }
    lost += queue->collect(flush);
  }
  dropped_records.fetch_add(lost, std::memory_order_relaxed);
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
