// Writes a file of a spool's form (format.hpp) from outside the program: the launcher's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/spool/format.hpp"

namespace gprofml::profile {

/// Collects records and appends them as one chunk at a time. After a failure nothing more is
/// written: a reader finds whole chunks up to there. Not thread-safe.
class ChunkFile {
 public:
  ChunkFile() = default;
  ChunkFile(const ChunkFile&) = delete;
  ChunkFile& operator=(const ChunkFile&) = delete;
  ~ChunkFile();

  /// Makes a new file; false (errno says why) when there is one or it cannot be made.
  bool create(const std::string& path);
  bool is_open() const { return descriptor_ >= 0; }

  /// Puts a record into the next chunk, `text` behind it; fills in its header.
  template <typename Record>
  void add(spool::RecordKind kind, Record record, std::string_view text = {}) {
    record.header.kind = kind;
    record.header.reserved = 0;
    record.header.bytes = static_cast<std::uint32_t>((sizeof record + text.size() + 7) & ~7ull);
    put(&record, sizeof record, text);
  }

  /// Writes what was collected. False when it could not be written, now or before.
  bool flush();

 private:
  void put(const void* record, std::size_t bytes, std::string_view text);

  int descriptor_ = -1;
  std::uint64_t sequence_ = 0;
  std::vector<char> chunk_;  // begins with room for the ChunkHeader
};

}  // namespace gprofml::profile
