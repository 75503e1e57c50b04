// The buffers of one producing thread (or of all): one that is filled, and full ones that wait for
// their last record to be finished. See activity_buffers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "test/simgpu/cupti/activity_buffers.hpp"

namespace gprofml::simgpu::cupti {

/// Memory of the client with records in it.
struct Buffer {
  struct Unfinished {
    std::size_t offset;
    std::int64_t end_ns;
  };
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0;
  std::size_t most_records = 0;  ///< 0: as many as fit
  std::size_t used = 0;
  std::size_t records = 0;
  std::vector<Unfinished> unfinished;  ///< when they were written
  std::int64_t latest_end_ns = kFinished;
  std::optional<std::size_t> last_activity;  ///< offset of the last record of something on a GPU

  bool has_room(std::size_t record_size) const;
  bool is_full() const { return most_records != 0 && records == most_records; }
  bool is_finished() const;
  void write(const void* record, std::size_t record_size, std::int64_t end_ns);
  void invalidate(std::size_t offset);
  void invalidate_unfinished();
};

/// A record that is not in any buffer yet.
struct HeldRecord {
  std::vector<std::uint8_t> bytes;
  std::int64_t end_ns = kFinished;
};

/// Called by the producing thread and by flushing threads at once.
class BufferQueue {
 public:
  /// Whether the record could be written; if not, a buffer has to be added.
  bool append(const void* record, std::size_t size, std::int64_t end_ns);

  void add(Buffer&& buffer);

  /// Returns how many records were lost.
  std::size_t collect(Flush flush);

  /// Holds a record back. If there are more than `most` then, gives one of them, drawn by lot (the
  /// same run over run).
  std::optional<HeldRecord> exchange(HeldRecord&& record, std::size_t most);

  /// One of the records held back, drawn by lot.
  std::optional<HeldRecord> take_held();

  bool has_records();

  /// The thread has ended: its buffer will not grow any more.
  void end_thread();

  /// Whether the thread has ended and all its buffers are on their way.
  bool is_done();

  void abandon();

 private:
  void retire_current();
  void complete_full(bool forced);
  std::size_t lose_everything();
  HeldRecord draw();

  std::mutex mutex_;
  std::optional<Buffer> current_;
  std::deque<Buffer> full_;
  // Threads that share a queue may each have asked the client when the current buffer was full.
  std::vector<Buffer> spare_;
  bool thread_has_ended_ = false;
  std::vector<HeldRecord> held_;
  std::uint32_t lot_ = 1;
};

}  // namespace gprofml::simgpu::cupti
