#include "libprofile/store/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "libprofile/store/store_error.hpp"

namespace gprofml::profile::detail {
namespace {

constexpr int kAttempts = 100;

StoreError cannot(const std::string& path, std::string_view what) {
  return file_error(path, fmt::format("cannot {}: {}", what, std::strerror(errno)));
}

StoreError already_there(const std::string& path) {
  return file_error(path, "exists already; name another output or remove it first");
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool exists(const std::string& path) {
  return faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

bool sync_path(const std::string& path, int flags) {
  const int descriptor = open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool done = fsync(descriptor) == 0;
  const int reason = errno;
  close(descriptor);
  errno = reason;
  return done;
}

/// rename(2) that fails where the new name exists. File systems that cannot do so in one step can
/// link instead.
bool rename_to_free_name(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (link(from.c_str(), to.c_str()) != 0) return false;
  unlink(from.c_str());
  return true;
}

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path), directory_(directory_of(path)) {
  static std::atomic<unsigned> counter{0};
  if (exists(path_)) throw already_there(path_);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    temporary_path_ = fmt::format("{}/.gprof-ml-{}-{}.tmp", directory_, getpid(), counter++);
    const int descriptor =
        open(temporary_path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      close(descriptor);
      return;
    }
    if (errno != EEXIST) break;
  }
  throw cannot(path_, "be created");
}

NewFile::~NewFile() {
  if (!published_) unlink(temporary_path_.c_str());
}

void NewFile::publish() {
  if (!sync_path(temporary_path_, O_RDWR)) throw cannot(path_, "be written");
  if (!rename_to_free_name(temporary_path_, path_)) {
    throw errno == EEXIST ? already_there(path_) : cannot(path_, "be given its name");
  }
  published_ = true;
  // The file is complete and visible; only its survival of a power cut right now hangs on this.
  sync_path(directory_, O_RDONLY | O_DIRECTORY);
}

}  // namespace gprofml::profile::detail
