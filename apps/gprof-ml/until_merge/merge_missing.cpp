// Stands in until libprofile/capture/merge.cpp is there; then this file goes.
#include <filesystem>

#include "libprofile/capture/merge.hpp"

namespace gprofml::profile {

std::vector<std::string> spools_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".spool") names.push_back(entry.path().filename().string());
  }
  return names;
}

bool is_spool_folder(const std::string& folder) {
  return std::filesystem::exists(folder + "/manifest") || !spools_in(folder).empty();
}

Recording merge_spools(const std::string& folder, const MergeOptions&) {
  throw CaptureError(folder + ": this build cannot read spools yet");
}

}  // namespace gprofml::profile
