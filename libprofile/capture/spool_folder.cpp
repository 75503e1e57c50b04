#include "libprofile/capture/spool_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string_view>

#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/output_forwarder.hpp"
#include "libprofile/capture/perf_maps.hpp"
#include "libprofile/spool/control.hpp"
#include "libprofile/spool/machine_records.hpp"
#include "libprofile/spool/options.hpp"

namespace gprofml::profile {
namespace {

constexpr int kAttempts = 16;
constexpr std::string_view kSpoolSuffix = ".spool";
constexpr std::string_view kSegmentSuffix = ".segment";

std::uint64_t nonce() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

/// A new folder whose name starts with `stem`; empty, with errno, when that fails.
std::string new_folder(const std::string& stem) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = fmt::format("{}.spool-{}-{:016x}", stem, getpid(), nonce());
    if (mkdir(path.c_str(), 0700) == 0) {
      // A umask may have taken the owner's own rights; the processes of the program need them.
      chmod(path.c_str(), 0700);
      return path;
    }
    if (errno != EEXIST) break;
  }
  return {};
}

std::string folder_for_temporary_files() {
  const char* const chosen = std::getenv("TMPDIR");
  return chosen != nullptr && chosen[0] == '/' ? chosen : "/tmp";
}

std::string in(const std::string& folder, const std::string& name) {
  return fmt::format("{}/{}", folder, name);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// The names in a folder, but for "." and ".."; empty when it cannot be read.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* const entry = readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

bool is_locked(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (descriptor < 0) return false;
  const bool locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return locked;
}

void pause_ms(int milliseconds) {
  timespec rest{0, milliseconds * 1'000'000L};
  nanosleep(&rest, nullptr);
}

}  // namespace

SpoolFolder make_spool_folder(const std::string& output) {
  SpoolFolder folder;
  folder.path = new_folder(output);
  if (!folder.path.empty()) return folder;
  folder.beside = false;
  folder.reason = std::strerror(errno);
  // Beside the output its name may be too long; here it is not needed to tell recordings apart.
  const std::string name = name_of(output).substr(0, 100);
  folder.path = new_folder(folder_for_temporary_files() + "/" + name);
  if (folder.path.empty()) folder.reason = std::strerror(errno);
  return folder;
}

bool remove_spool_folder(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    if (ends_with(name, kSpoolSuffix) || ends_with(name, kSegmentSuffix) || is_perf_map(name)) {
      unlink(in(folder, name).c_str());
    }
  }
  for (const char* const output : {"stdout", "stderr"}) {
    unlink(in(folder, std::string(output) + kOutputSuffix).c_str());
    unlink(in(folder, std::string(output) + kOutputPlaceSuffix).c_str());
  }
  unlink(in(folder, spool::kMachineName).c_str());
  unlink(in(folder, spool::kControlName).c_str());
  // Last, so that what is left when this is interrupted can still be told as a spool folder.
  unlink(in(folder, kManifestName).c_str());
  return rmdir(folder.c_str()) == 0 || errno == ENOENT;
}

std::vector<std::string> live_spools(const std::string& folder) {
  std::vector<std::string> live;
  for (const std::string& name : names_in(folder)) {
    if (ends_with(name, kSpoolSuffix) && is_locked(in(folder, name))) live.push_back(name);
  }
  return live;
}

namespace fs = std::filesystem;

std::vector<std::int64_t> processes_told_of(const std::string& folder) {
  const std::string variable = std::string(spool::kFolderVariable) + "=" + folder;
  std::vector<std::int64_t> pids;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry->path() / "environ", std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    for (std::size_t at = text.find(variable); at != std::string::npos;
         at = text.find(variable, at + 1)) {
      const std::size_t after = at + variable.size();
      const bool is_whole =
          (at == 0 || text[at - 1] == '\0') && (after == text.size() || text[after] == '\0');
      if (!is_whole) continue;
      pids.push_back(std::stoll(name));
      break;
    }
  }
  return pids;
}

void wait_for_writers(const std::string& folder, const Patience& patience,
                      const std::function<void(std::size_t)>& say,
                      const std::function<bool()>& enough) {
  constexpr int kStepMs = 10;
  constexpr Nanoseconds kStepNs = kStepMs * Nanoseconds{1'000'000};
  constexpr Nanoseconds kNoticedNs = 2'000'000'000;
  bool has_said = false;
  for (Nanoseconds waited = 0; patience.is_endless || waited < patience.time_ns;
       waited += kStepNs) {
    std::size_t writing = live_spools(folder).size();
    if (patience.for_processes) writing = std::max(writing, processes_told_of(folder).size());
    if (writing == 0 || (enough && enough())) return;
    if (waited >= kNoticedNs && !has_said && say) {
      say(writing);
      has_said = true;
    }
    pause_ms(kStepMs);
  }
}

}  // namespace gprofml::profile
