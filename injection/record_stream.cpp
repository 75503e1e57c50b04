#include "injection/record_stream.hpp"

#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

std::size_t padded(std::size_t bytes) {
  return (bytes + 7) & ~std::size_t{7};
}

}  // namespace

bool RecordStream::make(Chunk& chunk, SpoolFile& file) {
  chunk.file = &file;
  chunk.bytes = static_cast<unsigned char*>(map_memory(sizeof(spool::ChunkHeader) + kChunkBytes));
  return chunk.bytes != nullptr;
}

bool RecordStream::start(SpoolFile& file) {
  return make(lasting_, file);
}

bool RecordStream::split(SpoolFile& passing, OpenRanges& ranges) {
  if (!make(passing_, passing)) return false;
  open_ranges_ = &ranges;
  return true;
}

void RecordStream::copy(Chunk& chunk, const void* records, std::size_t bytes) {
  unsigned char* at = take_room(chunk, bytes);
  if (at != nullptr) std::memcpy(at, records, bytes);
}

const void* RecordStream::put(const void* record, std::size_t bytes, const void* tail,
                              std::size_t tail_bytes) {
  const std::size_t whole = bytes + padded(tail_bytes);
  spool::RecordHeader header;
  std::memcpy(&header, record, sizeof header);
  unsigned char* at = whole > kChunkBytes ? nullptr : take_room(chunk_of(header.kind), whole);
  if (at == nullptr) return nullptr;
  std::memcpy(at, record, bytes);
  if (tail_bytes > 0) std::memcpy(at + bytes, tail, tail_bytes);
  std::memset(at + bytes + tail_bytes, 0, whole - bytes - tail_bytes);
  return at;
}

Interner::Interned RecordStream::intern(const char* text, std::size_t bytes) {
  const Interner::Interned name = strings_.intern(text, bytes);
  if (name.is_new) {
    spool::String record{};
    record.header = {spool::RecordKind::string, 0,
                     static_cast<std::uint32_t>(sizeof record + padded(bytes))};
    record.id = name.id;
    record.text_bytes = static_cast<std::uint32_t>(bytes);
    put(&record, sizeof record, text, bytes);
  }
  return name;
}

std::uint32_t RecordStream::string(const char* text, std::size_t bytes) {
  return bytes == 0 ? 0 : intern(text, bytes).id;
}

std::uint32_t RecordStream::string(const char* text) {
  return text == nullptr ? 0 : string(text, std::strlen(text));
}

RecordStream::KeptName RecordStream::kept_string(const char* text) {
  const std::size_t bytes = std::strlen(text);
  if (bytes == 0) return {0, nullptr};
  const Interner::Interned name = intern(text, bytes);
  return {name.id, name.text};
}

std::uint32_t RecordStream::launch_config(spool::LaunchConfig config) {
  config.header = {};
  config.id = 0;
  const Interner::Interned known = launch_configs_.intern(&config, sizeof config);
  if (known.is_new) {
    config.id = known.id;
    add(spool::RecordKind::launch_config, config);
  }
  return known.id == 0 ? spool::kNoId : known.id;
}

std::uint32_t RecordStream::place(spool::Place place) {
  place.header = {};
  place.id = 0;
  const Interner::Interned known = places_.intern(&place, sizeof place);
  if (known.is_new) {
    place.id = known.id;
    add(spool::RecordKind::place, place);
  }
  return known.id;
}

void RecordStream::fact(const char* key, const char* value, std::size_t value_bytes) {
  char text[8192];
  const std::size_t key_bytes = std::strlen(key);
  if (key_bytes + value_bytes > sizeof text) value_bytes = sizeof text - key_bytes;
  std::memcpy(text, key, key_bytes);
  std::memcpy(text + key_bytes, value, value_bytes);
  spool::Fact record{};
  record.header = {spool::RecordKind::fact, 0,
                   static_cast<std::uint32_t>(sizeof record + padded(key_bytes + value_bytes))};
  record.key_bytes = static_cast<std::uint32_t>(key_bytes);
  record.value_bytes = static_cast<std::uint32_t>(value_bytes);
  put(&record, sizeof record, text, key_bytes + value_bytes);
}

void RecordStream::note(const char* code, const char* detail, std::uint64_t count) {
  spool::Note record{};
  record.code = string(code);
  record.detail = string(detail);
  record.count = count;
  add(spool::RecordKind::note, record);
}

void RecordStream::capture_event(const char* kind, const char* detail, std::int64_t time_ns,
                                 std::int64_t value) {
  spool::CaptureEvent record{};
  record.time_ns = time_ns;
  record.value = value;
  record.kind = string(kind);
  record.detail = string(detail);
  add(spool::RecordKind::capture_event, record);
}

bool RecordStream::flush() {
  return write(lasting_) && write(passing_);
}

bool RecordStream::write(Chunk& chunk) {
  if (failed_) return false;
  if (chunk.used == 0) return true;
  failed_ = !chunk.file->append(chunk.bytes, chunk.used);
  chunk.used = 0;
  return !failed_;
}

void RecordStream::write_last_words(const char* why) {
  failed_ = false;
  lasting_.used = 0;
  passing_.used = 0;
  // Names of earlier chunks may be among those that did not reach the disk.
  strings_ = Interner(0x80000000u);
  note("write_failed", why, 1);
  spool::End end{};
  end.time_ns = realtime_ns();
  end.reason = spool::EndReason::write_failed;
  add(spool::RecordKind::end, end);
  flush();
  failed_ = true;
}

}  // namespace gprofml::injection
