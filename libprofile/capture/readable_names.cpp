#include "libprofile/capture/readable_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace gprofml::profile {
namespace {

// Longer mangled names exist (template libraries), but not by this much; demangling a hostile one
// can cost far more memory than the name.
constexpr std::size_t kLongestMangled = 64 * 1024;
constexpr std::size_t kLongestReadable = 1024 * 1024;

}  // namespace

std::string readable_kernel_name(const std::string& mangled) {
  if (mangled.compare(0, 2, "_Z") != 0 || mangled.size() > kLongestMangled) return mangled;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || !text) return mangled;
  std::string readable = text.get();
  return readable.size() > kLongestReadable ? mangled : readable;
}

std::string_view readable_call_name(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at == 0) return name;
  const std::string_view version = name.substr(at + 2);
  const bool digits =
      std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
  // Of runtime calls it is the CUDA version that introduced them: 3020, 7000, 11000.
  return digits && version.size() >= 4 ? name.substr(0, at) : name;
}

}  // namespace gprofml::profile
