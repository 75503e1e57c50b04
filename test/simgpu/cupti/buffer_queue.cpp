#include "test/simgpu/cupti/buffer_queue.hpp"

#include <cupti.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "test/simgpu/cupti/delivery.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

/// Writes what is not zero. A client that promised zeroed memory and did not keep its word finds
/// its own bytes in the fields that are zero, as it would with the real library.
void copy_over_zeroed(std::uint8_t* target, const void* source, std::size_t size) {
  const auto* bytes = static_cast<const std::uint8_t*>(source);
  for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + i, sizeof word);
    if (word != 0) std::memcpy(target + i, &word, sizeof word);
  }
}

void give_back(const Buffer& buffer) {
  complete({buffer.bytes, buffer.size, buffer.used});
}

}  // namespace

bool Buffer::has_room(std::size_t record_size) const {
  return !is_full() && size - used >= record_size;
}

bool Buffer::is_finished() const {
  return latest_end_ns == kFinished || finished_by_now(latest_end_ns);
}

void Buffer::write(const void* record, std::size_t record_size, std::int64_t end_ns) {
  copy_over_zeroed(bytes + used, record, record_size);
  if (end_ns != kFinished) last_activity = used;
  if (end_ns != kFinished && !finished_by_now(end_ns)) {
    unfinished.push_back({used, end_ns});
    latest_end_ns = std::max(latest_end_ns, end_ns);
  }
  used += record_size;
  ++records;
}

void Buffer::invalidate(std::size_t offset) {
  const CUpti_ActivityKind invalid = CUPTI_ACTIVITY_KIND_INVALID;
  std::memcpy(bytes + offset, &invalid, sizeof invalid);
}

void Buffer::invalidate_unfinished() {
  for (const Unfinished& record : unfinished) {
    if (!finished_by_now(record.end_ns)) invalidate(record.offset);
  }
  if (incomplete_at_forced_flush_fault() && last_activity) invalidate(*last_activity);
}

bool BufferQueue::append(const void* record, std::size_t size, std::int64_t end_ns) {
  const std::lock_guard lock{mutex_};
  if (current_ && !current_->has_room(size)) retire_current();
  if (!current_ && !spare_.empty()) {
    current_ = std::move(spare_.back());
    spare_.pop_back();
  }
  if (!current_ || !current_->has_room(size)) return false;
  current_->write(record, size, end_ns);
  if (current_->is_full()) retire_current();
  return true;
}

void BufferQueue::add(Buffer&& buffer) {
  const std::lock_guard lock{mutex_};
  if (current_) {
    spare_.push_back(std::move(buffer));
  } else {
    current_ = std::move(buffer);
  }
}

std::size_t BufferQueue::collect(Flush flush) {
  const std::lock_guard lock{mutex_};
  if (flush == Flush::lost) return lose_everything();
  const bool forced = flush == Flush::forced;
  // All that can become of the current buffer is decided as if it were the last full one.
  const bool takes_current = current_ && current_->records != 0 && flush != Flush::full &&
                             (forced || current_->is_finished());
  const bool must_wait_its_turn =
      clock_is_virtual() && !forced &&
      std::any_of(full_.begin(), full_.end(), [](const Buffer& b) { return !b.is_finished(); });
  complete_full(forced);
  if (takes_current && !must_wait_its_turn) {
    full_.push_back(std::move(*current_));
    current_.reset();
    complete_full(forced);
  }
  if (forced) {
    for (const Buffer& buffer : spare_) give_back(buffer);
    spare_.clear();
  }
  return 0;
}

std::size_t BufferQueue::lose_everything() {
  std::size_t lost = held_.size();
  held_.clear();
  if (current_) full_.push_back(std::move(*current_));
  current_.reset();
  for (const Buffer& buffer : full_) {
    lost += buffer.records;
    complete({buffer.bytes, buffer.size, 0});
  }
  full_.clear();
  return lost;
}

std::optional<HeldRecord> BufferQueue::exchange(HeldRecord&& record, std::size_t most) {
  const std::lock_guard lock{mutex_};
  held_.push_back(std::move(record));
  if (held_.size() <= most) return std::nullopt;
  return draw();
}

std::optional<HeldRecord> BufferQueue::take_held() {
  const std::lock_guard lock{mutex_};
  if (held_.empty()) return std::nullopt;
  return draw();
}

HeldRecord BufferQueue::draw() {
  lot_ = lot_ * 1664525 + 1013904223;  // Numerical Recipes' generator: any will do
  std::swap(held_[(lot_ >> 16U) % held_.size()], held_.back());
  HeldRecord drawn = std::move(held_.back());
  held_.pop_back();
  return drawn;
}

bool BufferQueue::has_records() {
  const std::lock_guard lock{mutex_};
  return !full_.empty() || !held_.empty() || (current_ && current_->records != 0);
}

void BufferQueue::end_thread() {
  const std::lock_guard lock{mutex_};
  thread_has_ended_ = true;
  if (current_) retire_current();
}

bool BufferQueue::is_done() {
  const std::lock_guard lock{mutex_};
  return thread_has_ended_ && !current_ && full_.empty() && spare_.empty();
}

void BufferQueue::abandon() {
  const std::lock_guard lock{mutex_};
  current_.reset();
  full_.clear();
  spare_.clear();
  held_.clear();
  lot_ = 1;
}

void BufferQueue::retire_current() {
  full_.push_back(std::move(*current_));
  current_.reset();
  complete_full(false);
}

void BufferQueue::complete_full(bool forced) {
  std::deque<Buffer> kept;
  for (Buffer& buffer : full_) {
    const bool in_turn = kept.empty() || !clock_is_virtual();
    if (forced) buffer.invalidate_unfinished();
    if (forced || (in_turn && buffer.is_finished() && !buffers_held_fault())) {
      give_back(buffer);
    } else {
      kept.push_back(std::move(buffer));
    }
  }
  full_ = std::move(kept);
}

}  // namespace gprofml::simgpu::cupti
