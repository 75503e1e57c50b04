#include "libprofile/spool/reader.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprofile/spool/crc32c.hpp"

namespace gprofml::profile {
namespace {

[[noreturn]] void fail(const std::string& path, std::string_view why) {
  throw SpoolError(fmt::format("{}: {}", path, why));
}

[[noreturn]] void fail_system(const std::string& path, std::string_view what) {
  const int error = errno;
  fail(path, fmt::format("{}: {}", what, std::strerror(error)));
}

}  // namespace

SpoolReader::SpoolReader(const std::string& path) {
  open(path);
  try {
    read_header(path);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

SpoolReader::~SpoolReader() {
  ::close(descriptor_);
}

void SpoolReader::open(const std::string& path) {
  // Non-blocking: a pipe of that name must not hold us.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail_system(path, "cannot be opened");
}

void SpoolReader::read_header(const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail_system(path, "cannot be read");
  if (!S_ISREG(status.st_mode)) fail(path, "not a file");
  // The writer holds an exclusive lock for as long as it lives. Asked before the size, so that a
  // writer that ends in between is not taken for one that was killed.
  if (::flock(descriptor_, LOCK_SH | LOCK_NB) == 0) {
    ::flock(descriptor_, LOCK_UN);
  } else {
    in_use_ = errno == EWOULDBLOCK;
  }
  if (::fstat(descriptor_, &status) != 0) fail_system(path, "cannot be read");
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
  if (read_some(&header_, sizeof header_) < sizeof header_) {
    if (in_use_) fail(path, "ends before its header does: its process only just began to record");
    throw EmptySpool(
        path +
        ": ends before its header does: its process was stopped before it recorded anything");
  }
  if (std::memcmp(header_.magic, spool::kMagic, sizeof header_.magic) != 0) {
    fail(path, "not a spool file of gprof-ml");
  }
  if (header_.byte_order != spool::kByteOrder) {
    fail(path, "written on a machine with another byte order; read it there");
  }
  if (header_.crc != crc32c(&header_, offsetof(spool::FileHeader, crc))) {
    fail(path, "its header is damaged");
  }
  if (header_.version != spool::kFormatVersion) {
    fail(path, fmt::format("its format is version {}, this gprof-ml reads {}; update gprof-ml",
                           header_.version, spool::kFormatVersion));
  }
  position_ = sizeof header_;
}

/// Fewer bytes than asked for only at the end of the file, or where it cannot be read.
std::size_t SpoolReader::read_some(void* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = ::read(descriptor_, static_cast<char*>(to) + done, bytes - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

bool SpoolReader::stop(End end, std::string_view damage) {
  payload_.clear();
  end_ = end;
  damage_ = damage;
  ended_ = true;
  return false;
}

bool SpoolReader::next_chunk() {
  if (ended_) return false;
  const std::uint64_t left = file_bytes_ - position_;
  if (left == 0) return stop(End::whole);
  spool::ChunkHeader next{};
  if (left < sizeof next || read_some(&next, sizeof next) < sizeof next) return stop(End::cut);
  if (next.magic != spool::kChunkMagic) return stop(End::damaged, "no chunk begins there");
  if (next.header_crc != crc32c(&next, offsetof(spool::ChunkHeader, header_crc))) {
    return stop(End::damaged, "the header of the chunk has another checksum than it says");
  }
  if (next.sequence != next_sequence_) {
    return stop(End::damaged, "the chunk is not the next one in sequence");
  }
  if (next.payload_bytes > spool::kLargestChunkBytes) {
    return stop(End::damaged, "the chunk is longer than any may be");
  }
  // Checked against the file before memory is taken for it.
  if (next.payload_bytes > left - sizeof next) return stop(End::cut);
  payload_.resize(next.payload_bytes);
  if (read_some(payload_.data(), payload_.size()) < payload_.size()) return stop(End::cut);
  if (next.payload_crc != crc32c(payload_.data(), payload_.size())) {
    return stop(End::damaged, "the chunk has another checksum than it says");
  }
  chunk_ = next;
  position_ += sizeof next + payload_.size();
  ++next_sequence_;
  return true;
}

}  // namespace gprofml::profile
