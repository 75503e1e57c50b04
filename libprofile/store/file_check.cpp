#include "libprofile/store/file_check.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "libprofile/store/store.hpp"
#include "libprofile/store/store_error.hpp"

namespace gprofml::profile {
namespace detail {
namespace {

// https://www.sqlite.org/fileformat2.html#the_database_header
constexpr std::string_view kMagic{"SQLite format 3\0", 16};
constexpr std::size_t kHeaderBytes = 100;
constexpr std::size_t kPageSizeAt = 16;
constexpr std::size_t kChangeCounterAt = 24;
constexpr std::size_t kPageCountAt = 28;
constexpr std::size_t kVersionValidForAt = 92;

/// The first bytes of a file; opened so that a pipe or device cannot block.
struct FileHead {
  int error = 0;  ///< errno of what failed
  bool regular = false;
  std::uint64_t file_bytes = 0;
  std::array<unsigned char, kHeaderBytes> bytes{};
  std::size_t count = 0;

  bool has_magic() const {
    return count >= kMagic.size() && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
  }
  std::uint32_t big_endian_32(std::size_t at) const {
    return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
           std::uint32_t{bytes[at + 2]} << 8 | std::uint32_t{bytes[at + 3]};
  }
};

FileHead read_head(const std::string& path) {
  FileHead head;
  const int descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) {
    head.error = errno;
    return head;
  }
  struct stat status {};
  head.regular = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (head.regular) {
    head.file_bytes = static_cast<std::uint64_t>(status.st_size);
    const ssize_t count = pread(descriptor, head.bytes.data(), head.bytes.size(), 0);
    if (count < 0) head.error = errno;
    head.count = count < 0 ? 0 : static_cast<std::size_t>(count);
  }
  close(descriptor);
  return head;
}

/// The size the header claims, 0 where it makes no valid claim.
std::uint64_t declared_bytes(const FileHead& head) {
  // Writers older than SQLite 3.7.0 leave the page count stale; then the two counters differ.
  if (head.big_endian_32(kChangeCounterAt) != head.big_endian_32(kVersionValidForAt)) return 0;
  const std::uint32_t stored = head.big_endian_32(kPageSizeAt) >> 16;
  const std::uint64_t page_bytes = stored == 1 ? 65536 : stored;
  return page_bytes * head.big_endian_32(kPageCountAt);
}

/// A program that died, or still writes, leaves changes in PATH-wal or PATH-journal. Without them
/// the file reads as something that never was.
void check_no_pending_changes(const std::string& path) {
  for (const char* suffix : {"-wal", "-journal"}) {
    const FileHead head = read_head(path + suffix);
    // A journal that is kept for later use starts with zeros.
    if (head.count > 0 && head.bytes[0] != 0) {
      throw file_error(path,
                       fmt::format("has changes that wait in {0}{1}; end the program that "
                                   "writes it, or run: sqlite3 {0} 'PRAGMA journal_mode=DELETE'",
                                   path, suffix));
    }
  }
}

}  // namespace

std::uint64_t check_sqlite_file(const std::string& path) {
  const FileHead head = read_head(path);
  if (head.error != 0)
    throw file_error(path, fmt::format("cannot be read: {}", std::strerror(head.error)));
  if (!head.regular) throw file_error(path, "is not a regular file; name a run.db");
  if (head.file_bytes == 0) throw file_error(path, "is empty; record or import again");
  if (!head.has_magic())
    throw file_error(path, "is not an SQLite file (its first 16 bytes differ)");
  if (head.count < kHeaderBytes) {
    throw file_error(path, fmt::format("is truncated at byte {} of an SQLite header; copy it again",
                                       head.count));
  }
  const std::uint64_t declared = declared_bytes(head);
  if (head.file_bytes < declared) {
    throw file_error(path,
                     fmt::format("is truncated: its header says {} bytes, it has {}; copy it again",
                                 declared, head.file_bytes));
  }
  check_no_pending_changes(path);
  return head.file_bytes;
}

}  // namespace detail

bool is_sqlite(const std::string& path) {
  return detail::read_head(path).has_magic();
}

}  // namespace gprofml::profile
