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

class OpenRanges;

class RecordStream {
 public:
  /// False when there is no memory for it.
  bool start(SpoolFile& file);

  /// From now on what does not last (spool::is_lasting) goes to another file, and `ranges` knows
  /// what is open. False when there is no memory for it.
  bool split(SpoolFile& passing, OpenRanges& ranges);
  /// What does not last goes to that one now. After flush().
  void go_on_in(SpoolFile& passing) { passing_.file = &passing; }
  /// nullptr: nobody wants to know. What writes ranges keeps it up to date.
  OpenRanges* open_ranges() const { return open_ranges_; }

  /// Appends `record`, whose header it fills in. As it was written, until the next is; nullptr when
  /// it is lost.
  template <class Record>
  const void* add(spool::RecordKind kind, const Record& record) {
    return add_to(chunk_of(kind), kind, record);
  }
  /// The same for one that lasts although most of its kind do not.
  template <class Record>
  void add_lasting(spool::RecordKind kind, const Record& record) {
    add_to(lasting_, kind, record);
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
  const void* add(spool::RecordKind kind, Record record, const void* tail, std::size_t tail_bytes) {
    static_assert(sizeof(Record) % 8 == 0);
    const std::size_t whole = sizeof record + ((tail_bytes + 7) & ~std::size_t{7});
    record.header = {kind, 0, static_cast<std::uint32_t>(whole)};
    return put(&record, sizeof record, tail, tail_bytes);
  }

  /// Appends whole records as they are, to what lasts or to what does not.
  void copy_lasting(const void* records, std::size_t bytes) { copy(lasting_, records, bytes); }
  void copy_passing(const void* records, std::size_t bytes) {
    copy(is_split() ? passing_ : lasting_, records, bytes);
  }

  /// Begins a record whose other fields the caller must fill in, all of them; nullptr when it is
  /// lost. For what is written most: the record is made where it will stand.
  template <class Record>
  Record* begin(spool::RecordKind kind) {
    static_assert(sizeof(Record) % 8 == 0 && alignof(Record) <= 8);
    unsigned char* at = take_room(chunk_of(kind), sizeof(Record));
    if (at == nullptr) return nullptr;
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

  /// Writes what is collected, as one chunk a file: what lasts before what needs it. False once the
  /// file no longer takes anything.
  bool flush();
  bool failed() const { return failed_; }
  bool empty() const { return lasting_.used == 0 && passing_.used == 0; }
  /// After a failed write: one last try with what fits into a few bytes.
  void write_last_words(const char* why);

 private:
  // Small enough that a chunk cut in half by a kill loses little, large enough that its header and
  // its system call cost nothing.
  static constexpr std::size_t kChunkBytes = 1u << 18;
  static_assert(kChunkBytes <= spool::kLargestChunkBytes);

  struct Chunk {
    SpoolFile* file = nullptr;
    unsigned char* bytes = nullptr;  ///< ChunkHeader, then `used` bytes
    std::size_t used = 0;
  };

  static bool make(Chunk& chunk, SpoolFile& file);
  bool is_split() const { return open_ranges_ != nullptr; }
  Chunk& chunk_of(spool::RecordKind kind) {
    return is_split() && !spool::is_lasting(kind) ? passing_ : lasting_;
  }
  /// Where the next `bytes` go, nullptr when they are lost: the file takes nothing any more.
  unsigned char* take_room(Chunk& chunk, std::size_t bytes) {
    if (failed_ || (chunk.used + bytes > kChunkBytes && !flush())) return nullptr;
    unsigned char* at = chunk.bytes + sizeof(spool::ChunkHeader) + chunk.used;
    chunk.used += bytes;
    return at;
  }
  template <class Record>
  const void* add_to(Chunk& chunk, spool::RecordKind kind, const Record& record) {
    static_assert(sizeof(Record) % 8 == 0);
    unsigned char* at = take_room(chunk, sizeof record);
    if (at == nullptr) return nullptr;
    const spool::RecordHeader header{kind, 0, sizeof record};
    std::memcpy(at, &record, sizeof record);
    std::memcpy(at, &header, sizeof header);
    return at;
  }
  bool write(Chunk& chunk);
  void copy(Chunk& chunk, const void* records, std::size_t bytes);
  const void* put(const void* record, std::size_t bytes, const void* tail, std::size_t tail_bytes);
  Interner::Interned intern(const char* text, std::size_t bytes);

  Chunk lasting_;  ///< everything, until split() is called
  Chunk passing_;
  OpenRanges* open_ranges_ = nullptr;
  bool failed_ = false;
  Interner strings_{1};
  Interner launch_configs_{1};
  Interner places_{1};
};

}  // namespace gprofml::injection
