#include "libprofile/capture/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace gprofml::profile {
namespace {

namespace fs = std::filesystem;

bool is_readable_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), R_OK) == 0;
}

InjectionLibrary chosen_library(const char* path) {
  std::error_code ignored;
  const fs::path absolute = fs::absolute(path, ignored);
  if (is_readable_file(absolute)) return {absolute.string(), {}};
  return {{}, fmt::format("GPROFML_INJECTION names no readable file ({})", path)};
}

/// An unset or empty variable is free; one that already names our library (a recording inside a
/// recording) is ours to set again.
bool is_free(const char* value) {
  if (value == nullptr || *value == '\0') return true;
  return fs::path(value).filename() == kInjectionLibrary;
}

struct Variable {
  const char* name;
  const char* code;
  const char* what;
};

constexpr Variable kVariables[] = {
    {"CUDA_INJECTION64_PATH", "cuda_variable_taken", "CUDA work is"},
    {"NVTX_INJECTION64_PATH", "nvtx_variable_taken", "NVTX ranges are"},
};

}  // namespace

InjectionLibrary find_injection_library() {
  const char* const chosen = std::getenv("GPROFML_INJECTION");
  if (chosen != nullptr && *chosen != '\0') return chosen_library(chosen);
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (error) return {{}, "/proc/self/exe cannot be read"};
  const fs::path library_folder = executable.parent_path().parent_path() / "lib";
  std::string places;
  for (const fs::path& folder : {library_folder, library_folder / "gprof-ml"}) {
    if (is_readable_file(folder / kInjectionLibrary)) {
      return {(folder / kInjectionLibrary).string(), {}};
    }
    places += (places.empty() ? "" : ", ") + folder.string();
  }
  return {
      {},
      fmt::format("{} is not in {} (GPROFML_INJECTION may name it)", kInjectionLibrary, places)};
}

RecordingEnvironment recording_environment(const std::string& library,
                                           const std::string& spool_folder,
                                           const ReadVariable& read) {
  RecordingEnvironment environment;
  for (const Variable& variable : kVariables) {
    const char* const value = read(variable.name);
    if (is_free(value)) {
      environment.variables[variable.name] = library;
    } else {
      environment.problems.push_back(
          {variable.code, fmt::format("{} not recorded: {} is set already, to {}", variable.what,
                                      variable.name, value)});
    }
  }
  if (!environment.variables.empty()) environment.variables["GPROFML_SPOOL_DIR"] = spool_folder;
  return environment;
}

}  // namespace gprofml::profile
