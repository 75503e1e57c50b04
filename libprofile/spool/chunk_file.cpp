#include "libprofile/spool/chunk_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <random>

#include "libprofile/spool/crc32c.hpp"

namespace gprofml::profile {
namespace {

std::int64_t realtime_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

bool write_all(int descriptor, const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t written = write(descriptor, at, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}

spool::FileHeader file_header() {
  spool::FileHeader header{};
  std::memcpy(header.magic, spool::kMagic, sizeof header.magic);
  header.version = spool::kFormatVersion;
  header.byte_order = spool::kByteOrder;
  header.start_ns = realtime_ns();
  std::random_device random;
  header.nonce = (std::uint64_t{random()} << 32) | random();
  header.pid = static_cast<std::uint32_t>(getpid());
  header.crc = crc32c(&header, offsetof(spool::FileHeader, crc));
  return header;
}

}  // namespace

ChunkFile::~ChunkFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool ChunkFile::create(const std::string& path) {
  descriptor_ =
      open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor_ < 0) return false;
  const spool::FileHeader header = file_header();
  if (write_all(descriptor_, &header, sizeof header)) return true;
  const int reason = errno;
  close(descriptor_);
  descriptor_ = -1;
  unlink(path.c_str());
  errno = reason;
  return false;
}

void ChunkFile::put(const void* record, std::size_t bytes, std::string_view text) {
  if (chunk_.empty()) chunk_.resize(sizeof(spool::ChunkHeader));
  const auto* const begin = static_cast<const char*>(record);
  chunk_.insert(chunk_.end(), begin, begin + bytes);
  chunk_.insert(chunk_.end(), text.begin(), text.end());
  chunk_.resize((chunk_.size() + 7) & ~std::size_t{7});
}

bool ChunkFile::flush() {
  if (!is_open()) return false;
  if (chunk_.empty()) return true;
  spool::ChunkHeader header{};
  header.magic = spool::kChunkMagic;
  header.payload_bytes = static_cast<std::uint32_t>(chunk_.size() - sizeof header);
  header.sequence = sequence_++;
  header.written_ns = realtime_ns();
  header.payload_crc = crc32c(chunk_.data() + sizeof header, header.payload_bytes);
  header.header_crc = crc32c(&header, offsetof(spool::ChunkHeader, header_crc));
  std::memcpy(chunk_.data(), &header, sizeof header);
  const bool written = write_all(descriptor_, chunk_.data(), chunk_.size());
  chunk_.clear();
  if (written) return true;
  close(descriptor_);
  descriptor_ = -1;
  return false;
}

}  // namespace gprofml::profile
