#include "libprofile/capture/registry.hpp"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
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

bool lives(pid_t pid) {
  return kill(pid, 0) == 0 || errno == EPERM;
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
  const std::string link = fmt::format("{}/{}", folder, getpid());
  unlink(link.c_str());  // of a launcher that had our process id
  if (symlink(spool_folder.c_str(), link.c_str()) == 0) link_ = link;
}

Registered::~Registered() {
  if (!link_.empty()) unlink(link_.c_str());
}

std::vector<RunningRecording> running_recordings() {
  std::vector<RunningRecording> running;
  const std::string folder = registry_folder();
  DIR* const directory = folder.empty() ? nullptr : opendir(folder.c_str());
  if (directory == nullptr) return running;
  while (const dirent* const entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) continue;
    const std::string link = fmt::format("{}/{}", folder, name);
    char target[PATH_MAX];
    const ssize_t length = readlink(link.c_str(), target, sizeof target);
    if (length <= 0) continue;
    if (!lives(pid)) {
      unlink(link.c_str());
      continue;
    }
    running.push_back({pid, std::string(target, static_cast<std::size_t>(length))});
  }
  closedir(directory);
  std::sort(running.begin(), running.end(),
            [](const RunningRecording& a, const RunningRecording& b) {
              return a.launcher_pid < b.launcher_pid;
            });
  return running;
}

}  // namespace gprofml::profile
