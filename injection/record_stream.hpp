// Records on their way into chunks: collects them, puts a dictionary entry in front of the first
// record that uses it, and hands full chunks to the file. The writer thread's alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injection/interner.hpp"
#include "injection/spool_file.hpp"
#include "libprofile/spool/format.hpp"

namespace gprofml::injection {

class RecordStream {
 public:
  /// False when there is no memory for it.
  bool start(SpoolFile& file);

  /// Appends `record`, whose header it fills in.
  template <class Record>
  void add(spool::RecordKind kind, Record record) {
    static_assert(sizeof(Record) % 8 == 0);
    record.header = {kind, 0, sizeof(Record)};
    put(&record, sizeof record, nullptr, 0);
  }

  /// Number of a name, 0 for the empty one. Written when it is new.
  std::uint32_t string(const char* text, std::size_t bytes);
  std::uint32_t string(const char* text);
  /// Number of a launch configuration, kNoId when there is no memory. `config.id` is filled in.
  std::uint32_t launch_config(spool::LaunchConfig config);

  void fact(const char* key, const char* value, std::size_t value_bytes);
  void note(const char* code, const char* detail, std::uint64_t count);

  /// Writes what is collected as one chunk. False once the file no longer takes anything.
  bool flush();
  bool failed() const { return failed_; }
  bool empty() const { return used_ == 0; }
  /// After a failed write: one last try with what fits into a few bytes.
  void write_last_words(const char* why);

 private:
  void put(const void* record, std::size_t bytes, const void* tail, std::size_t tail_bytes);

  SpoolFile* file_ = nullptr;
  unsigned char* chunk_ = nullptr;  ///< ChunkHeader, then `used_` bytes
  std::size_t used_ = 0;
  bool failed_ = false;
  Interner strings_{1};
  Interner launch_configs_{0};
};

}  // namespace gprofml::injection
