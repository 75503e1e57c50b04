// Where CUPTI may lie. The copy that fits best is the one of the program's own toolkit: a newer
// CUPTI refuses an older driver, so beside the loaded CUDA runtime comes first.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "injection/cupti_library.hpp"
#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

constexpr const char* kSonames[] = {"libcupti.so.13", "libcupti.so.12"};

// From the folder of libcudart: the toolkit's two places, then those of pip packages.
constexpr const char* kBesideRuntime[] = {
    "",
    "/../extras/CUPTI/lib64",
    "/../../../extras/CUPTI/lib64",
    "/../../cuda_cupti/lib",
    "/../../cu13/lib",
};
constexpr const char* kInToolkit[] = {"/lib64", "/extras/CUPTI/lib64", "/lib"};

/// A stubs folder on the library path makes CUPTI open a libcuda that does nothing.
bool is_stub(const char* path) {
  return std::strstr(path, "/stubs") != nullptr;
}

class Search {
 public:
  Search(bool (*try_path)(const char*, void*), void* argument, Mailbox& mailbox)
      : try_path_(try_path), argument_(argument), mailbox_(mailbox) {}

  /// Tries the library in `folder` + `below`.
  bool in(const char* folder, const char* below) {
    for (const char* soname : kSonames) {
      char path[4096];
      const int length = std::snprintf(path, sizeof path, "%s%s/%s", folder, below, soname);
      if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) continue;
      if (access(path, R_OK) != 0) continue;
      if (is_stub(path)) {
        mailbox_.note("stub_library", path);
        continue;
      }
      if (try_path_(path, argument_)) return true;
    }
    return false;
  }

  bool in_toolkit(const char* root) {
    if (root == nullptr || *root == '\0') return false;
    for (const char* below : kInToolkit) {
      if (in(root, below)) return true;
    }
    return false;
  }

  bool by_soname() {
    for (const char* soname : kSonames) {
      if (try_path_(soname, argument_)) return true;
    }
    return false;
  }

 private:
  bool (*try_path_)(const char*, void*);
  void* argument_;
  Mailbox& mailbox_;
};

/// The file behind a line of /proc/self/maps, nullptr when it is not the CUDA runtime.
const char* runtime_in_line(const char* line) {
  const char* path = std::strchr(line, '/');
  if (path == nullptr) return nullptr;
  const char* file = std::strrchr(path, '/') + 1;
  return std::strncmp(file, "libcudart", std::strlen("libcudart")) == 0 ? path : nullptr;
}

/// Cuts the loaded CUDA runtime's folder into `folder`; false when the program has none (or it is
/// linked statically).
bool runtime_folder(char* folder, std::size_t room) {
  FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char line[4352];
  bool found = false;
  while (!found && std::fgets(line, sizeof line, maps) != nullptr) {
    line[std::strcspn(line, "\n")] = '\0';
    const char* path = runtime_in_line(line);
    if (path == nullptr) continue;
    const auto length = static_cast<std::size_t>(std::strrchr(path, '/') - path);
    if (length >= room) continue;
    std::memcpy(folder, path, length);
    folder[length] = '\0';
    found = true;
  }
  std::fclose(maps);
  return found;
}

void note_stubs_on_path(Mailbox& mailbox) {
  const char* path = getenv("LD_LIBRARY_PATH");
  if (path != nullptr && is_stub(path)) {
    mailbox.note("stubs_on_path",
                 "LD_LIBRARY_PATH names a folder of stubs: CUPTI may open the stub of libcuda and "
                 "record nothing; take it out");
  }
}

}  // namespace

bool search_cupti(bool (*try_path)(const char*, void*), void* argument, Mailbox& mailbox) {
  note_stubs_on_path(mailbox);
  Search search(try_path, argument, mailbox);
  char folder[4096];
  if (runtime_folder(folder, sizeof folder)) {
    for (const char* below : kBesideRuntime) {
      if (search.in(folder, below)) return true;
    }
  }
  return search.in_toolkit(getenv("CUDA_HOME")) || search.in_toolkit(getenv("CUDA_PATH")) ||
         search.in_toolkit("/usr/local/cuda") || search.by_soname();
}

}  // namespace gprofml::injection
