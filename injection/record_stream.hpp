// Records on their way into chunks: collects them, puts a dictionary entry in front of the first
// record that uses it, and hands full chunks to the file. The writer thread's alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

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
  void add(spool::RecordKind kind, const Record& record) {
    static_assert(sizeof(Record) % 8 == 0);
    unsigned char* at = make_room(sizeof record);
    if (at == nullptr) return;
    const spool::RecordHeader header{kind, 0, sizeof record};
    std::memcpy(at, &record, sizeof record);
    std::memcpy(at, &header, sizeof header);
    used_ += sizeof record;
  }

  /// The same with `tail_bytes` (a multiple of 8) behind it.
  template <class Record>
  void add_with_tail(spool::RecordKind kind, Record record, const void* tail,
                     std::size_t tail_bytes) {
    record.header = {kind, 0, static_cast<std::uint32_t>(sizeof record + tail_bytes)};
    put(&record, sizeof record, tail, tail_bytes);
  }

  /// The same with what stands behind it, which is padded with zeros.
  template <class Record>
  void add(spool::RecordKind kind, Record record, const void* tail, std::size_t tail_bytes) {
    static_assert(sizeof(Record) % 8 == 0);
    const std::size_t whole = sizeof record + ((tail_bytes + 7) & ~std::size_t{7});
    record.header = {kind, 0, static_cast<std::uint32_t>(whole)};
    put(&record, sizeof record, tail, tail_bytes);
  }

  /// Begins a record whose other fields the caller must fill in, all of them; nullptr when it is
  /// lost. For what is written most: the record is made where it will stand.
  template <class Record>
  Record* begin(spool::RecordKind kind) {
    static_assert(sizeof(Record) % 8 == 0 && alignof(Record) <= 8);
    unsigned char* at = make_room(sizeof(Record));
    if (at == nullptr) return nullptr;
    used_ += sizeof(Record);
    auto* record = ::new (at) Record;
    record->header = {kind, 0, sizeof(Record)};
    return record;
  }

  /// Number of a name, 0 for the empty one. Written when it is new.
  std::uint32_t string(const char* text, std::size_t bytes);
  std::uint32_t string(const char* text);
  /// The same with the copy of the name that the dictionary keeps, nullptr where it keeps none.
  struct KeptName {
    std::uint32_t id;
    const char* text;
  };
  KeptName kept_string(const char* text);
  /// Changes when kept names are dropped.
  std::uint32_t names_generation() const { return strings_.generation(); }

  /// Number of a launch configuration, kNoId when there is no memory. `config.id` is filled in.
  std::uint32_t launch_config(spool::LaunchConfig config);
  /// Number of a place, 0 when there is no memory. `place.id` is filled in.
  std::uint32_t place(spool::Place place);

  void fact(const char* key, const char* value, std::size_t value_bytes);
  void note(const char* code, const char* detail, std::uint64_t count);
  void capture_event(const char* kind, const char* detail, std::int64_t time_ns,
                     std::int64_t value);

  /// Writes what is collected as one chunk. False once the file no longer takes anything.
  bool flush();
  bool failed() const { return failed_; }
  bool empty() const { return used_ == 0; }
  /// After a failed write: one last try with what fits into a few bytes.
  void write_last_words(const char* why);

 private:
  // Small enough that a chunk cut in half by a kill loses little, large enough that its header and
  // its system call cost nothing.
  static constexpr std::size_t kChunkBytes = 1u << 18;
  static_assert(kChunkBytes <= spool::kLargestChunkBytes);

  /// Where the next `bytes` go, nullptr when they are lost: the file takes nothing any more.
  unsigned char* make_room(std::size_t bytes) {
    if (failed_ || (used_ + bytes > kChunkBytes && !flush())) return nullptr;
    return chunk_ + sizeof(spool::ChunkHeader) + used_;
  }
  void put(const void* record, std::size_t bytes, const void* tail, std::size_t tail_bytes);
  Interner::Interned intern(const char* text, std::size_t bytes);

  SpoolFile* file_ = nullptr;
  unsigned char* chunk_ = nullptr;  ///< ChunkHeader, then `used_` bytes
  std::size_t used_ = 0;
  bool failed_ = false;
  Interner strings_{1};
  Interner launch_configs_{1};
  Interner places_{1};
};

}  // namespace gprofml::injection
