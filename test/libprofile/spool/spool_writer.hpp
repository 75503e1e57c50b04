// Writes spool files by hand, one call a record. Knows the format, not the recorder nor the reader:
// its checksum is the definition, bit by bit.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "libprofile/spool/format.hpp"

namespace gprofml::test {

/// CRC-32C, bit by bit.
inline std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? (crc >> 1) ^ 0x82f63b78U : crc >> 1;
  }
  return ~crc;
}

template <typename Struct>
std::string bytes_of(const Struct& value) {
  static_assert(std::is_trivially_copyable_v<Struct>);
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// The kind of each record struct; pushes and marks share one, so those are named by the caller.
template <typename Record>
struct KindOf;
template <>
struct KindOf<spool::LaunchConfig> {
  static constexpr auto value = spool::RecordKind::launch_config;
};
template <>
struct KindOf<spool::Thread> {
  static constexpr auto value = spool::RecordKind::thread;
};
template <>
struct KindOf<spool::Domain> {
  static constexpr auto value = spool::RecordKind::domain;
};
template <>
struct KindOf<spool::Note> {
  static constexpr auto value = spool::RecordKind::note;
};
template <>
struct KindOf<spool::Status> {
  static constexpr auto value = spool::RecordKind::status;
};
template <>
struct KindOf<spool::End> {
  static constexpr auto value = spool::RecordKind::end;
};
template <>
struct KindOf<spool::Device> {
  static constexpr auto value = spool::RecordKind::device;
};
template <>
struct KindOf<spool::Context> {
  static constexpr auto value = spool::RecordKind::context;
};
template <>
struct KindOf<spool::Stream> {
  static constexpr auto value = spool::RecordKind::stream;
};
template <>
struct KindOf<spool::Kernel> {
  static constexpr auto value = spool::RecordKind::kernel;
};
template <>
struct KindOf<spool::Place> {
  static constexpr auto value = spool::RecordKind::place;
};
template <>
struct KindOf<spool::ShortKernel> {
  static constexpr auto value = spool::RecordKind::short_kernel;
};
template <>
struct KindOf<spool::Copy> {
  static constexpr auto value = spool::RecordKind::copy;
};
template <>
struct KindOf<spool::Fill> {
  static constexpr auto value = spool::RecordKind::fill;
};
template <>
struct KindOf<spool::ApiCall> {
  static constexpr auto value = spool::RecordKind::api_call;
};
template <>
struct KindOf<spool::Sync> {
  static constexpr auto value = spool::RecordKind::sync;
};
template <>
struct KindOf<spool::CudaEvent> {
  static constexpr auto value = spool::RecordKind::cuda_event;
};
template <>
struct KindOf<spool::Overhead> {
  static constexpr auto value = spool::RecordKind::overhead;
};
template <>
struct KindOf<spool::GraphNode> {
  static constexpr auto value = spool::RecordKind::graph_node;
};
template <>
struct KindOf<spool::GraphEdge> {
  static constexpr auto value = spool::RecordKind::graph_edge;
};
template <>
struct KindOf<spool::RangePush> {
  static constexpr auto value = spool::RecordKind::range_push;
};
template <>
struct KindOf<spool::RangePop> {
  static constexpr auto value = spool::RecordKind::range_pop;
};
template <>
struct KindOf<spool::RangeStart> {
  static constexpr auto value = spool::RecordKind::range_start;
};
template <>
struct KindOf<spool::RangeEnd> {
  static constexpr auto value = spool::RecordKind::range_end;
};

class SpoolWriter {
 public:
  explicit SpoolWriter(std::uint32_t pid = 100, std::int64_t start_ns = 1'000'000'000) {
    spool::FileHeader header{};
    std::memcpy(header.magic, spool::kMagic, sizeof header.magic);
    header.version = spool::kFormatVersion;
    header.byte_order = spool::kByteOrder;
    header.start_ns = start_ns;
    header.nonce = 42;
    header.pid = pid;
    set_header(header);
  }

  /// Replaces the header, with the right checksum.
  void set_header(spool::FileHeader header) {
    header.crc = checksum(bytes_of(header).substr(0, offsetof(spool::FileHeader, crc)));
    header_ = bytes_of(header);
  }

  /// A record as a struct: header fields are filled in. `more`: bytes of a newer writer behind it.
  template <typename Record>
  void add(Record record, spool::RecordKind kind, std::string_view more = {}) {
    record.header.kind = kind;
    record.header.bytes = static_cast<std::uint32_t>((sizeof record + more.size() + 7) / 8 * 8);
    std::string bytes = bytes_of(record);
    bytes += more;
    bytes.resize(record.header.bytes, '\0');
    payload_ += bytes;
  }
  template <typename Record>
  void add(const Record& record) {
    add(record, KindOf<Record>::value);
  }

  void raw(std::string_view bytes) { payload_ += bytes; }

  void fact(std::string_view key, std::string_view value) {
    spool::Fact fact{};
    fact.key_bytes = static_cast<std::uint32_t>(key.size());
    fact.value_bytes = static_cast<std::uint32_t>(value.size());
    add(fact, spool::RecordKind::fact, std::string(key) + std::string(value));
  }

  /// The id of a text, written when it is new.
  std::uint32_t string(std::string_view text) {
    if (text.empty()) return 0;
    const auto id = static_cast<std::uint32_t>(strings_.size() + 1);
    const auto [known, is_new] = strings_.try_emplace(std::string(text), id);
    if (is_new) {
      spool::String record{};
      record.id = id;
      record.text_bytes = static_cast<std::uint32_t>(text.size());
      add(record, spool::RecordKind::string, text);
    }
    return known->second;
  }

  /// Ends the chunk; the next record begins another one.
  void end_chunk() {
    spool::ChunkHeader header{};
    header.magic = spool::kChunkMagic;
    header.payload_bytes = static_cast<std::uint32_t>(payload_.size());
    header.sequence = sequence_++;
    header.written_ns = written_ns;
    header.payload_crc = checksum(payload_);
    add_chunk(header, payload_);
    payload_.clear();
  }

  /// A chunk as it is, with the right checksum of its header only.
  void add_chunk(spool::ChunkHeader header, std::string_view payload) {
    header.header_crc =
        checksum(bytes_of(header).substr(0, offsetof(spool::ChunkHeader, header_crc)));
    chunks_ += bytes_of(header);
    chunks_ += payload;
    ends_.push_back(header_.size() + chunks_.size());
  }

  /// The whole file; an open chunk is ended.
  std::string bytes() {
    if (!payload_.empty()) end_chunk();
    return header_ + chunks_;
  }

  /// Where each chunk ends in the file.
  const std::vector<std::size_t>& chunk_ends() const { return ends_; }

  void write(const std::string& path) { std::ofstream(path, std::ios::binary) << bytes(); }

  std::int64_t written_ns = 2'000'000'000;

 private:
  std::string header_;
  std::string chunks_;
  std::string payload_;
  std::vector<std::size_t> ends_;
  std::map<std::string, std::uint32_t> strings_;
  std::uint64_t sequence_ = 0;
};

}  // namespace gprofml::test
