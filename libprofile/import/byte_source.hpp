// The bytes of a file, inflated when it is gzip.
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::profile {

/// Reads a file from front to back; gzip, also of several members, is recognised by its magic and
/// inflated. Throws ImportError when the file cannot be opened or read. A gzip stream that is cut
/// off or broken ends early instead: `damage` then says why. Used by one thread at a time.
class ByteSource {
 public:
  explicit ByteSource(const std::string& path);
  ~ByteSource();
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Fills `target`; fewer than `size` bytes only at the end.
  std::size_t read(char* target, std::size_t size);

  /// Bytes handed out so far: of the content, that is after inflating.
  std::uint64_t position() const { return position_; }
  bool compressed() const { return compressed_; }
  /// Size of the content where it is known beforehand, else 0.
  std::uint64_t expected_size() const { return compressed_ ? 0 : file_size_; }
  /// Why the content ended early; empty: it did not.
  const std::string& damage() const { return damage_; }

 private:
  std::size_t read_file(char* target, std::size_t size);
  std::size_t inflate_some(char* target, std::size_t size);
  bool refill();
  bool next_member();

  std::string path_;
  int descriptor_ = -1;
  std::vector<unsigned char> input_;  // as in the file: [input_at_, input_end_) is not yet used
  std::size_t input_at_ = 0;
  std::size_t input_end_ = 0;
  std::uint64_t file_size_ = 0;
  std::uint64_t file_position_ = 0;
  std::uint64_t position_ = 0;
  bool compressed_ = false;
  bool ended_ = false;
  std::string damage_;
  z_stream inflater_{};
};

}  // namespace gprofml::profile
