#include "test/simgpu/cupti/allocation_source.hpp"

#include <dlfcn.h>
#include <execinfo.h>

#include <string>

#include "test/simgpu/cupti/translation.hpp"

namespace gprofml::simgpu::cupti {
namespace {

constexpr int kDepth = 64;

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/') + 1);
}

/// The folder of the simulated GPU's libraries.
const std::string& own_folder() {
  static const std::string& folder = *new std::string([] {
    Dl_info self{};
    dladdr(reinterpret_cast<const void*>(&find_allocation_source), &self);
    return self.dli_fname != nullptr ? folder_of(self.dli_fname) : std::string{};
  }());
  return folder;
}

}  // namespace

AllocationSource find_allocation_source() {
  void* frames[kDepth];
  const int count = backtrace(frames, kDepth);
  for (int i = 0; i < count; ++i) {
    Dl_info found{};
    if (dladdr(frames[i], &found) == 0 || found.dli_fname == nullptr) continue;
    if (folder_of(found.dli_fname) == own_folder()) continue;
    return {reinterpret_cast<std::uint64_t>(frames[i]), lasting_text(found.dli_fname)};
  }
  return {};
}

}  // namespace gprofml::simgpu::cupti
