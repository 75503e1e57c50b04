// Everything the doctor's probes may know of the machine. They read it through this alone, so that
// each finding can be tested with a folder in the place of /, planted variables and a planted NVML.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gprofml::profile {

/// A folder as a place to write to.
struct FolderState {
  bool exists = false;
  bool writable = false;
  std::uint64_t free_bytes = 0;
};

struct Machine {
  std::string root;  ///< put in front of every path; empty: this machine
  std::map<std::string, std::string> environment;
  std::string nvml_library = "libnvidia-ml.so.1";  ///< as dlopen takes it; no root in front
  std::string output_folder;                       ///< absolute: where `run` would write
  std::string injection_library;                   ///< absolute; empty: not found
  std::string injection_reason;                    ///< why not
  std::string glibc_version;                       ///< "2.36"
  std::int64_t pid = 0;       ///< a running program whose libraries count; 0: none
  bool is_superuser = false;  ///< effective user 0

  /// The version that a CUPTI tells of itself (cuptiGetVersion), 0 when it cannot be opened.
  std::function<std::uint32_t(const std::string& path)> cupti_version;
  std::function<FolderState(const std::string& path)> folder_state;

  /// The value of a variable, empty when it is not set.
  std::string variable(const std::string& name) const;
  /// A file's text, up to a megabyte; nullopt when it cannot be read.
  std::optional<std::string> read(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// A regular file, or a link to one, that this process may read.
  bool is_readable(const std::string& path) const;
  /// The names in a folder in order; empty when it cannot be read.
  std::vector<std::string> names_in(const std::string& path) const;
  /// The path with links resolved and without the root; as it was when that fails.
  std::string resolved(const std::string& path) const;
};

/// This machine, seen from this process; with a `pid` other than 0 as that process was started.
Machine this_machine(std::int64_t pid = 0);

}  // namespace gprofml::profile
