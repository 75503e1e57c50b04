// Where the dynamic linker looks for a library by name: LD_LIBRARY_PATH, its cache, its own
// folders.
#pragma once

#include <string>
#include <vector>

#include "libprofile/capture/doctor/machine.hpp"

namespace gprofml::profile {

class LibraryPath {
 public:
  /// Reads the variable and /etc/ld.so.cache of the machine, or those of its `pid`.
  explicit LibraryPath(const Machine& machine);

  /// Every readable file that the name may lead to, the one that is taken first.
  std::vector<std::string> find(const std::string& name) const;

  /// The folders of LD_LIBRARY_PATH in order; not the cache, which knows files.
  const std::vector<std::string>& variable_folders() const { return variable_folders_; }

  /// What `find` looks at, for people.
  std::vector<std::string> folders() const;

 private:
  const Machine& machine_;
  std::vector<std::string> variable_folders_;
  std::string cache_;
};

/// The files that a cache (the text of ld.so.cache, format "glibc-ld.so.cache1.1") has for a name.
/// Damaged ones give what can be read.
std::vector<std::string> cached_libraries(const std::string& cache, const std::string& name);

}  // namespace gprofml::profile
