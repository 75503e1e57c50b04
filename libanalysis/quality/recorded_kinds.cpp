#include "libanalysis/quality/recorded_kinds.hpp"

#include <string_view>
#include <vector>

namespace gprofml::analysis {
namespace {

bool names(std::string_view list, std::string_view kind) {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (list.substr(0, comma) == kind) return true;
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
  }
  return false;
}

}  // namespace

std::string work_left_out(const profile::Trace& trace) {
  const auto kinds = trace.meta.find("recorded_kinds");
  if (kinds == trace.meta.end()) return {};
  std::vector<std::string_view> left_out;
  for (const std::string_view kind : {"kernels", "copies", "fills"}) {
    if (!names(kinds->second, kind)) left_out.push_back(kind);
  }
  std::string words;
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    if (i > 0) words += i + 1 == left_out.size() ? " and " : ", ";
    words += left_out[i];
  }
  return words;
}

}  // namespace gprofml::analysis
