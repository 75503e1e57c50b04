// Reads a spool file chunk by chunk and trusts none of it.
//
//   SpoolReader  ── next_chunk() ──►  RecordCursor  ── next() ──►  RecordView
//   verifies header and chunks        walks a payload              one record, read as a struct
//
// Reading ends at the first chunk that does not verify, even when whole chunks stand behind it:
// that chunk may have held names that later records use and pushes that later pops close, so what
// follows would be told wrongly rather than not at all. A file that merely ends inside a chunk was
// cut, as SIGKILL leaves it, and has lost nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libprofile/spool/format.hpp"

namespace gprofml::profile {

/// A file that cannot be opened, is no spool or is of a newer version. `what()` is one line.
class SpoolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file without a whole header, whose writer is gone: nothing was ever recorded into it.
class EmptySpool : public SpoolError {
 public:
  using SpoolError::SpoolError;
};

/// One record inside a chunk; valid until the next chunk is read.
class RecordView {
 public:
  RecordView(spool::RecordKind kind, const std::byte* begin, std::uint32_t bytes)
      : kind_(kind), begin_(begin), bytes_(bytes) {}

  spool::RecordKind kind() const { return kind_; }
  std::uint32_t bytes() const { return bytes_; }  ///< with its header

  /// The record as a struct; nullopt when it is shorter than that. A longer one is of a newer
  /// writer.
  template <typename Record>
  std::optional<Record> as() const {
    static_assert(std::is_trivially_copyable_v<Record>);
    if (bytes_ < sizeof(Record)) return std::nullopt;
    Record record;
    std::memcpy(&record, begin_, sizeof record);
    return record;
  }

  /// `length` bytes that begin `offset` bytes into the record; nullopt when it ends before.
  std::optional<std::string_view> text(std::size_t offset, std::size_t length) const {
    if (offset > bytes_ || length > bytes_ - offset) return std::nullopt;
    return std::string_view(reinterpret_cast<const char*>(begin_) + offset, length);
  }

 private:
  spool::RecordKind kind_;
  const std::byte* begin_;
  std::uint32_t bytes_;
};

/// Walks the records of one payload.
class RecordCursor {
 public:
  RecordCursor(const std::byte* begin, std::size_t bytes) : at_(begin), left_(bytes) {}

  /// The next record; nullopt at the end, or where a length makes no sense: see `broken`.
  std::optional<RecordView> next() {
    if (left_ == 0 || broken_) return std::nullopt;
    spool::RecordHeader header{};
    if (left_ >= sizeof header) std::memcpy(&header, at_, sizeof header);
    if (header.bytes < sizeof header || header.bytes % 8 != 0 || header.bytes > left_) {
      broken_ = true;
      return std::nullopt;
    }
    const RecordView view(header.kind, at_, header.bytes);
    at_ += header.bytes;
    left_ -= header.bytes;
    return view;
  }

  /// Whether the payload could not be walked to its end.
  bool broken() const { return broken_; }

 private:
  const std::byte* at_;
  std::size_t left_;
  bool broken_ = false;
};

/// Owns the file and one chunk; memory is bounded by the longest chunk in it. Not thread-safe.
class SpoolReader {
 public:
  /// How far the file could be read.
  enum class End : std::uint8_t {
    whole,   ///< it ends with a whole chunk
    cut,     ///< it ends inside a chunk
    damaged  ///< a chunk does not verify
  };

  /// Opens the file and verifies its header. Throws SpoolError.
  explicit SpoolReader(const std::string& path);
  ~SpoolReader();
  SpoolReader(const SpoolReader&) = delete;
  SpoolReader& operator=(const SpoolReader&) = delete;

  const spool::FileHeader& header() const { return header_; }

  /// Reads the next chunk that is whole and verifies; false at the end.
  bool next_chunk();

  RecordCursor records() const { return {payload_.data(), payload_.size()}; }

  /// When the current chunk was handed to the system, CLOCK_REALTIME.
  std::int64_t written_ns() const { return chunk_.written_ns; }

  End end() const { return end_; }                      ///< once next_chunk() has returned false
  std::string_view damage() const { return damage_; }   ///< what does not verify
  std::uint64_t position() const { return position_; }  ///< bytes read and verified so far
  std::uint64_t file_bytes() const { return file_bytes_; }  ///< when the file was opened
  std::uint64_t lost_bytes() const { return file_bytes_ - position_; }

  /// Whether the process that writes the file held it when it was opened.
  bool in_use() const { return in_use_; }

 private:
  void open(const std::string& path);
  void read_header(const std::string& path);
  std::size_t read_some(void* to, std::size_t bytes);
  bool stop(End end, std::string_view damage = {});

  int descriptor_ = -1;
  spool::FileHeader header_{};
  spool::ChunkHeader chunk_{};
  std::vector<std::byte> payload_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t next_sequence_ = 0;
  End end_ = End::whole;
  std::string_view damage_;
  bool in_use_ = false;
  bool ended_ = false;
};

}  // namespace gprofml::profile
