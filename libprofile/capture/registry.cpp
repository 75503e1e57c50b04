#include "libprofile/capture/registry.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace gprofml::profile {
namespace {

/// Ours, and nobody else may write there: whoever could would make us command a stranger's program.
bool is_safe(const std::string& folder) {
  struct stat status {};
  return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) &&
         status.st_uid == geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Closes it at the end, which gives its lock back.
class Entry {
 public:
  explicit Entry(int descriptor) : descriptor_(descriptor) {}
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

/// 0: no process id.
pid_t pid_of(std::string_view name) {
  pid_t pid = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == name.data() + name.size();
  return whole && pid > 0 ? pid : 0;
}

/// What an entry says; empty unless it is a file of ours that names a folder.
std::string folder_in(const Entry& entry) {
  struct stat status {};
  if (fstat(entry.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid()) {
    return {};
  }
  char text[PATH_MAX];
  const ssize_t length = pread(entry.get(), text, sizeof text, 0);
  if (length <= 0 || length == sizeof text || text[0] != '/') return {};
  const std::string folder(text, static_cast<std::size_t>(length));
  if (folder.find('\0') != std::string::npos) return {};
  return stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) ? folder : std::string();
}

bool is_locked(const Entry& entry) {
  return flock(entry.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Unless somebody has put another in its place meanwhile.
void remove_entry(const Entry& entry, const std::string& path) {
  struct stat opened {};
  struct stat there {};
  if (fstat(entry.get(), &opened) == 0 && lstat(path.c_str(), &there) == 0 &&
      opened.st_ino == there.st_ino && opened.st_dev == there.st_dev) {
    unlink(path.c_str());
  }
}

}  // namespace

std::string registry_folder() {
  const char* const runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = runtime != nullptr && runtime[0] == '/'
                                 ? fmt::format("{}/gprof-ml", runtime)
                                 : fmt::format("/tmp/gprof-ml-{}", geteuid());
  mkdir(folder.c_str(), 0700);
  return is_safe(folder) ? folder : std::string();
}

Registered::Registered(const std::string& spool_folder) {
  const std::string folder = registry_folder();
  if (folder.empty() || spool_folder.empty()) return;
  const std::string path = fmt::format("{}/{}", folder, getpid());
  // Locked before it can be found: unlocked it is one of a launcher that is gone.
  const std::string unfinished = path + ".new";
  unlink(unfinished.c_str());
  lock_ = open(unfinished.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (lock_ < 0) return;
  const bool is_made =
      flock(lock_, LOCK_EX | LOCK_NB) == 0 &&
      write(lock_, spool_folder.data(), spool_folder.size()) ==
          static_cast<ssize_t>(spool_folder.size()) &&
      rename(unfinished.c_str(), path.c_str()) == 0;  // over one that had our process id
  if (is_made) {
    path_ = path;
  } else {
    unlink(unfinished.c_str());
  }
}

Registered::~Registered() {
  if (!path_.empty()) unlink(path_.c_str());
  if (lock_ >= 0) close(lock_);
}

std::vector<RunningRecording> running_recordings() {
  std::vector<RunningRecording> running;
  const std::string folder = registry_folder();
  DIR* const directory = folder.empty() ? nullptr : opendir(folder.c_str());
  if (directory == nullptr) return running;
  while (const dirent* const found = readdir(directory)) {
    const pid_t pid = pid_of(found->d_name);
    if (pid == 0) continue;
    const std::string path = fmt::format("{}/{}", folder, found->d_name);
    const Entry entry(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!entry) continue;
    if (is_locked(entry)) {
      const std::string spools = folder_in(entry);
      if (!spools.empty()) running.push_back({pid, spools});
    } else if (!folder_in(entry).empty()) {
      remove_entry(entry, path);
    }
  }
  closedir(directory);
  std::sort(running.begin(), running.end(),
            [](const RunningRecording& a, const RunningRecording& b) {
              return a.launcher_pid < b.launcher_pid;
            });
  return running;
}

}  // namespace gprofml::profile
