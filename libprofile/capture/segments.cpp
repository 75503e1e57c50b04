#include "libprofile/capture/segments.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace gprofml::profile {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSuffix = ".segment";

/// By name, which is the order of their numbers.
std::vector<std::string> paths_beside(const std::string& spool_path) {
  std::vector<std::string> paths;
  const std::string head = fs::path(spool_path).filename().string() + ".";
  std::error_code error;
  fs::directory_iterator entry(fs::path(spool_path).parent_path(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool is_one = name.size() > head.size() + kSuffix.size() &&
                        name.compare(0, head.size(), head) == 0 &&
                        entry->path().extension() == kSuffix;
    if (is_one) paths.push_back(entry->path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// False when one was deleted between looking and opening.
bool open_all(const std::string& spool_path, Segments& segments) {
  for (const std::string& path : paths_beside(spool_path)) {
    try {
      segments.readers.push_back(std::make_unique<SpoolReader>(path));
    } catch (const EmptySpool&) {  // its process was stopped as it began it
    } catch (const SpoolError& error) {
      std::error_code ignored;
      if (!fs::exists(path, ignored)) return false;
      segments.unreadable.emplace_back(error.what());
    }
  }
  return true;
}

}  // namespace

Segments open_segments(const std::string& spool_path) {
  constexpr int kAttempts = 20;
  Segments segments;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    segments = {};
    if (open_all(spool_path, segments)) break;
  }
  return segments;
}

}  // namespace gprofml::profile
