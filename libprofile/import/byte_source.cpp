#include "libprofile/import/byte_source.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "libprofile/import/import.hpp"

namespace gprofml::profile {
namespace {

constexpr std::size_t kMagicBytes = 2;
constexpr std::size_t kCompressedBytes = std::size_t{256} << 10;

[[noreturn]] void fail(const std::string& path, const char* action) {
  throw ImportError(fmt::format("{}: cannot be {}: {}; check the path and its permissions", path,
                                action, std::strerror(errno)));
}

}  // namespace

ByteSource::ByteSource(const std::string& path) : path_(path), input_(kMagicBytes) {
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) fail(path, "opened");
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw ImportError(path + ": is a directory; name the trace file inside it");
  }
  if (S_ISREG(status.st_mode)) file_size_ = static_cast<std::uint64_t>(status.st_size);
  try {
    while (input_end_ < kMagicBytes && refill()) {
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
  compressed_ = input_end_ == kMagicBytes && input_[0] == 0x1f && input_[1] == 0x8b;
  if (!compressed_) return;
  input_.resize(kCompressedBytes);
  inflateInit2(&inflater_, 15 + 16);
}

ByteSource::~ByteSource() {
  if (compressed_) inflateEnd(&inflater_);
  ::close(descriptor_);
}

std::size_t ByteSource::read_file(char* target, std::size_t size) {
  for (;;) {
    const ssize_t got = ::read(descriptor_, target, size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "read");
    file_position_ += static_cast<std::uint64_t>(got);
    return static_cast<std::size_t>(got);
  }
}

bool ByteSource::refill() {
  if (input_at_ == input_end_) input_at_ = input_end_ = 0;
  const std::size_t got =
      read_file(reinterpret_cast<char*>(input_.data()) + input_end_, input_.size() - input_end_);
  input_end_ += got;
  return got != 0;
}

std::size_t ByteSource::read(char* target, std::size_t size) {
  std::size_t filled = 0;
  while (filled < size && !ended_) {
    std::size_t got = 0;
    if (compressed_) {
      got = inflate_some(target + filled, size - filled);
    } else if (input_at_ < input_end_) {
      got = std::min(size - filled, input_end_ - input_at_);
      std::memcpy(target + filled, input_.data() + input_at_, got);
      input_at_ += got;
    } else {
      got = read_file(target + filled, size - filled);
      ended_ = got == 0;
    }
    filled += got;
    position_ += got;
  }
  return filled;
}

std::size_t ByteSource::inflate_some(char* target, std::size_t size) {
  if (input_at_ == input_end_ && !refill()) {
    damage_ = fmt::format("the gzip stream is cut off at byte {} of the file", file_position_);
    ended_ = true;
    return 0;
  }
  size = std::min<std::size_t>(size, std::size_t{1} << 30);
  inflater_.next_in = input_.data() + input_at_;
  inflater_.avail_in = static_cast<uInt>(input_end_ - input_at_);
  inflater_.next_out = reinterpret_cast<Bytef*>(target);
  inflater_.avail_out = static_cast<uInt>(size);
  const int status = inflate(&inflater_, Z_NO_FLUSH);
  input_at_ = input_end_ - inflater_.avail_in;
  if (status == Z_STREAM_END) {
    ended_ = !next_member();
  } else if (status != Z_OK && status != Z_BUF_ERROR) {
    damage_ = fmt::format("the gzip stream is broken before byte {} of the file ({})",
                          file_position_ - inflater_.avail_in,
                          inflater_.msg ? inflater_.msg : "unknown error");
    ended_ = true;
  }
  return size - inflater_.avail_out;
}

// After a member comes another, the end, or zeros that pad the file.
bool ByteSource::next_member() {
  const auto more = [&] { return input_at_ < input_end_ || refill(); };
  const auto begins_member = [&] { return input_[input_at_] == 0x1f; };
  while (more() && input_[input_at_] == 0) ++input_at_;
  if (!more()) return false;
  if (!begins_member()) {
    damage_ = fmt::format("bytes that are not gzip follow the gzip stream at byte {} of the file",
                          file_position_ - (input_end_ - input_at_));
    return false;
  }
  return inflateReset(&inflater_) == Z_OK;
}

}  // namespace gprofml::profile
