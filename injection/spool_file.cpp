#include "injection/spool_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "injection/crc32c.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

/// fstat() itself has carried too new a symbol version since glibc 2.33.
bool status_of(int descriptor, struct stat& status) {
  return syscall(SYS_fstat, descriptor, &status) == 0;
}

/// Moves the descriptor out of the low numbers, where programs expect their own next one.
int to_high_number(int descriptor) {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int lowest = limit.rlim_cur >= 1024 ? 900 : static_cast<int>(limit.rlim_cur / 2);
  const int high = fcntl(descriptor, F_DUPFD_CLOEXEC, lowest);
  if (high < 0) return descriptor;
  close(descriptor);
  return high;
}

void lock(int descriptor) {
  // Some network file systems refuse locks; the launcher then takes the writer for dead once the
  // process is.
  flock(descriptor, LOCK_EX | LOCK_NB);
}

spool::FileHeader make_header(std::int64_t start_ns, std::uint64_t nonce) {
  spool::FileHeader header{};
  std::memcpy(header.magic, spool::kMagic, sizeof header.magic);
  header.version = spool::kFormatVersion;
  header.byte_order = spool::kByteOrder;
  header.start_ns = start_ns;
  header.nonce = nonce;
  header.pid = static_cast<std::uint32_t>(getpid());
  header.crc = crc32c(&header, offsetof(spool::FileHeader, crc));
  return header;
}

}  // namespace

bool SpoolFile::create(const char* folder, const char* host, std::int64_t start_ns) {
  const std::uint64_t nonce = random_number();
  const int length = std::snprintf(path_, sizeof path_, "%s/%s-%d-%lld-%016llx.spool", folder, host,
                                   static_cast<int>(getpid()), static_cast<long long>(start_ns),
                                   static_cast<unsigned long long>(nonce));
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path_) {
    errno = ENAMETOOLONG;
    return false;
  }
  return open_new(make_header(start_ns, nonce));
}

bool SpoolFile::create_segment(const SpoolFile& spool, std::uint32_t index) {
  const int length = std::snprintf(path_, sizeof path_, "%s.%08x.segment", spool.path_, index);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path_) {
    errno = ENAMETOOLONG;
    return false;
  }
  return open_new(spool.header_);
}

bool SpoolFile::open_new(const spool::FileHeader& header) {
  header_ = header;
  sequence_ = 0;
  whole_bytes_ = 0;
  inode_ = 0;
  const int descriptor = open(path_, O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return false;
  descriptor_ = to_high_number(descriptor);
  struct stat status {};
  if (!status_of(descriptor_, status)) return fail_to_create(errno);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  lock(descriptor_);
  if (!write_all(reinterpret_cast<const unsigned char*>(&header_), sizeof header_)) {
    return fail_to_create(last_error_);
  }
  whole_bytes_ = sizeof header_;
  return true;
}

void SpoolFile::unlink_own() const {
  struct stat status {};
  // Only what is still this file: somebody may have put another one in its place.
  if (inode_ != 0 && syscall(SYS_newfstatat, AT_FDCWD, path_, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      status.st_dev == device_ && status.st_ino == inode_) {
    unlink(path_);
  }
}

bool SpoolFile::fail_to_create(int error) {
  unlink_own();
  close(descriptor_);
  descriptor_ = -1;
  errno = error;
  return false;
}

void SpoolFile::remove() {
  unlink_own();
  abandon();
  whole_bytes_ = 0;
}

bool SpoolFile::is_ours(int descriptor) const {
  struct stat status {};
  return descriptor >= 0 && status_of(descriptor, status) && status.st_dev == device_ &&
         status.st_ino == inode_;
}

bool SpoolFile::open_again() {
  descriptor_ = -1;
  const int descriptor = open(path_, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) {
    last_error_ = errno;
    return false;
  }
  if (!is_ours(descriptor)) {
    close(descriptor);
    last_error_ = ESTALE;
    return false;
  }
  descriptor_ = to_high_number(descriptor);
  lock(descriptor_);
  return true;
}

bool SpoolFile::write_all(const unsigned char* bytes, std::size_t size) {
  FileSizeSignalBlocked blocked;
  while (size > 0) {
    const ssize_t written = write(descriptor_, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      last_error_ = written < 0 ? errno : EIO;
      if (last_error_ == EFBIG) blocked.take_signal();
      return false;
    }
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool SpoolFile::append(unsigned char* chunk, std::size_t payload_bytes) {
  spool::ChunkHeader header{};
  header.magic = spool::kChunkMagic;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.sequence = sequence_;
  header.payload_crc = crc32c(chunk + sizeof header, payload_bytes);
  header.written_ns = realtime_ns();
  header.header_crc = crc32c(&header, offsetof(spool::ChunkHeader, header_crc));
  std::memcpy(chunk, &header, sizeof header);

  if (!is_ours(descriptor_) && !open_again()) return false;
  const std::size_t size = sizeof header + payload_bytes;
  if (!write_all(chunk, size)) {
    // What stands there half would end the reading of a later, whole chunk.
    if (is_ours(descriptor_) && ftruncate(descriptor_, whole_bytes_) != 0) descriptor_ = -1;
    return false;
  }
  ++sequence_;
  whole_bytes_ += static_cast<std::int64_t>(size);
  return true;
}

void SpoolFile::abandon() {
  if (is_ours(descriptor_)) close(descriptor_);
  descriptor_ = -1;
}

}  // namespace gprofml::injection
