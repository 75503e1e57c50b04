#include "libprofile/capture/doctor/machine.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "libprofile/capture/environment.hpp"

namespace gprofml::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostText = 1U << 20;

using Variables = std::map<std::string, std::string>;

void add_variable(Variables& variables, const std::string& entry) {
  const std::size_t equals = entry.find('=');
  if (equals != std::string::npos) variables[entry.substr(0, equals)] = entry.substr(equals + 1);
}

Variables own_environment() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    add_variable(variables, *entry);
  }
  return variables;
}

/// What it was started with; what it has set since is not visible.
Variables environment_of(std::int64_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  Variables variables;
  for (std::string entry; std::getline(file, entry, '\0');) add_variable(variables, entry);
  return variables;
}

std::uint32_t version_of_cupti(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return 0;
  using GetVersion = int (*)(std::uint32_t*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(handle, "cuptiGetVersion"));
  std::uint32_t version = 0;
  if (get_version == nullptr || get_version(&version) != 0) version = 0;
  return version;  // not closed: CUPTI does not outlive that everywhere
}

FolderState state_of_folder(const std::string& path) {
  FolderState state;
  std::error_code ignored;
  state.exists = fs::is_directory(path, ignored);
  state.writable = access(path.c_str(), W_OK | X_OK) == 0;
  struct statvfs space {};
  if (statvfs(path.c_str(), &space) == 0) {
    state.free_bytes = std::uint64_t{space.f_bavail} * space.f_frsize;
  }
  return state;
}

std::string libc_version() {
#if defined(_CS_GNU_LIBC_VERSION)
  char text[64] = {};  // "glibc 2.36"
  confstr(_CS_GNU_LIBC_VERSION, text, sizeof text);
  const std::string version = text;
  return version.substr(version.find(' ') + 1);
#else
  return {};
#endif
}

}  // namespace

std::string Machine::variable(const std::string& name) const {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

std::optional<std::string> Machine::read(const std::string& path) const {
  std::ifstream file(root + path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(kMostText, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return std::nullopt;
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

bool Machine::exists(const std::string& path) const {
  return access((root + path).c_str(), F_OK) == 0;
}

bool Machine::is_readable(const std::string& path) const {
  std::error_code ignored;
  return fs::is_regular_file(root + path, ignored) && access((root + path).c_str(), R_OK) == 0;
}

std::vector<std::string> Machine::names_in(const std::string& path) const {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(root + path, error);
  while (!error && entries != fs::directory_iterator()) {
    names.push_back(entries->path().filename().string());
    entries.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Machine::resolved(const std::string& path) const {
  std::error_code error;
  const std::string real = fs::canonical(root + path, error).string();
  if (error) return path;
  const std::string real_root = root.empty() ? root : fs::canonical(root, error).string();
  return real.compare(0, real_root.size(), real_root) == 0 ? real.substr(real_root.size()) : path;
}

Machine this_machine(std::int64_t pid) {
  Machine machine;
  machine.pid = pid;
  machine.environment = pid == 0 ? own_environment() : environment_of(pid);
  std::error_code ignored;
  machine.output_folder = fs::current_path(ignored).string();
  const InjectionLibrary library = find_injection_library();
  machine.injection_library = library.path;
  machine.injection_reason = library.reason;
  machine.glibc_version = libc_version();
  machine.is_superuser = geteuid() == 0;
  machine.cupti_version = version_of_cupti;
  machine.folder_state = state_of_folder;
  return machine;
}

}  // namespace gprofml::profile
