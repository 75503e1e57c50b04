#include "libanalysis/graph/communication.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gprofml::analysis {
namespace {

// '?' stands for an optional underscore.
constexpr std::array<std::string_view, 11> kPatterns{"nccl",
                                                     "rccl",
                                                     "all?reduce",
                                                     "all?gather",
                                                     "reduce?scatter",
                                                     "all?to?all",
                                                     "cross_device_reduce",
                                                     "multimem",
                                                     "nvshmem",
                                                     "deep?ep",
                                                     "msccl"};

bool matches_at(std::string_view text, std::string_view pattern) {
  std::size_t i = 0;
  for (const char c : pattern) {
    if (c == '?') {
      if (i < text.size() && text[i] == '_') ++i;
      continue;
    }
    if (i >= text.size() || text[i] != c) return false;
    ++i;
  }
  return true;
}

}  // namespace

bool is_communication_kernel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::size_t at = 0; at < lower.size(); ++at) {
    const std::string_view rest = std::string_view(lower).substr(at);
    for (const std::string_view pattern : kPatterns) {
      if (matches_at(rest, pattern)) return true;
    }
  }
  return false;
}

}  // namespace gprofml::analysis
