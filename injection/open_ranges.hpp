// The NVTX ranges that are open, as they were written, for recordings of which only the last part
// is kept: a segment of events (segments.hpp) begins with them, so that a range which began long
// ago still has its name and its true start.
//
// And those during which nodes of CUDA graphs came into being: work of a replay is told by the
// range of the capture, however long ago that was. They are written among what lasts once they end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

class RecordStream;

/// Zeroed memory is a valid, empty one once start() was called. The writer thread's alone.
class OpenRanges {
 public:
  /// Of more open ranges the innermost are not told again; nor are payloads that find no room.
  static constexpr std::uint32_t kMost = 16384;
  static constexpr std::size_t kRoom = 256;  ///< bytes of a range's records

  /// One that a program's thread opened: `record` is its RangePush or RangeStart as written, with
  /// all that belongs to it. `range` 0: a push.
  void open(const void* record, std::uint32_t tid, std::uint32_t domain, std::uint64_t range);
  /// A Payload for the innermost push of thread and domain, or for the start of that id.
  void payload(const void* record, std::uint32_t tid, std::uint32_t domain, std::uint64_t range);
  /// `record`: the RangePop or RangeEnd as written.
  void close(RecordStream& stream, const void* record, std::uint32_t tid, std::uint32_t domain,
             std::uint64_t range);
  /// A node of a graph came into being on that thread.
  void captured(std::uint32_t tid);

  /// Writes all that are open, outer ones first.
  void write_again(RecordStream& stream) const;

  void start();
  std::uint32_t count() const { return count_; }

 private:
  struct Range {
    std::uint64_t id;  ///< 0: a push
    std::uint32_t tid;
    std::uint32_t domain;
    std::uint32_t slot;
    std::uint32_t bytes;
    std::uint32_t unkept_inside;  ///< open pushes inside it for which there was no room
    bool is_of_capture;
  };
  Range* find(std::uint32_t tid, std::uint32_t domain, std::uint64_t range);

  std::uint32_t count_;
  std::uint32_t free_count_;
  Range ranges_[kMost];  ///< in the order in which they were opened
  std::uint32_t free_[kMost];
  alignas(8) unsigned char records_[kMost][kRoom];
};

}  // namespace gprofml::injection
