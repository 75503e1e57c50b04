#include "libprofile/capture/doctor/library_path.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gprofml::profile {
namespace {

constexpr const char* kSystemFolders[] = {"/lib/x86_64-linux-gnu",
                                          "/usr/lib/x86_64-linux-gnu",
                                          "/lib64",
                                          "/usr/lib64",
                                          "/lib",
                                          "/usr/lib"};

std::vector<std::string> split_path(const std::string& text) {
  std::vector<std::string> folders;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find_first_of(":;", begin), text.size());
    if (end > begin) folders.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

constexpr std::string_view kCacheMagic = "glibc-ld.so.cache1.1";
constexpr std::size_t kCacheHeaderBytes = 48;
constexpr std::size_t kCacheEntryBytes = 24;

std::uint32_t number_at(std::string_view cache, std::size_t at) {
  std::uint32_t number = 0;
  if (at + sizeof number <= cache.size()) std::memcpy(&number, cache.data() + at, sizeof number);
  return number;
}

std::string_view text_at(std::string_view cache, std::size_t at) {
  if (at >= cache.size()) return {};
  const std::string_view rest = cache.substr(at);
  return rest.substr(0, std::min(rest.find('\0'), rest.size()));
}

}  // namespace

std::vector<std::string> cached_libraries(const std::string& cache, const std::string& name) {
  std::vector<std::string> files;
  // Offsets count from the magic, which older caches have behind a table of an older format.
  const std::size_t start = cache.find(kCacheMagic);
  if (start == std::string::npos) return files;
  const std::string_view table = std::string_view(cache).substr(start);
  const std::uint32_t count = number_at(table, kCacheMagic.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kCacheHeaderBytes + i * kCacheEntryBytes;
    if (entry + kCacheEntryBytes > table.size()) break;
    if (text_at(table, number_at(table, entry + 4)) != name) continue;
    files.emplace_back(text_at(table, number_at(table, entry + 8)));
  }
  return files;
}

LibraryPath::LibraryPath(const Machine& machine)
    : machine_(machine),
      variable_folders_(split_path(machine.variable("LD_LIBRARY_PATH"))),
      cache_(machine.read("/etc/ld.so.cache").value_or("")) {}

std::vector<std::string> LibraryPath::find(const std::string& name) const {
  std::vector<std::string> candidates;
  for (const std::string& folder : variable_folders_) candidates.push_back(folder + "/" + name);
  for (const std::string& file : cached_libraries(cache_, name)) candidates.push_back(file);
  for (const char* const folder : kSystemFolders) {
    candidates.push_back(std::string(folder) + "/" + name);
  }
  std::vector<std::string> found;
  for (const std::string& candidate : candidates) {
    const bool is_new = std::find(found.begin(), found.end(), candidate) == found.end();
    if (is_new && machine_.is_readable(candidate)) found.push_back(candidate);
  }
  return found;
}

std::vector<std::string> LibraryPath::folders() const {
  std::vector<std::string> folders;
  for (const std::string& folder : variable_folders_) {
    folders.push_back(folder + " (LD_LIBRARY_PATH)");
  }
  folders.emplace_back("/etc/ld.so.cache");
  for (const char* const folder : kSystemFolders) folders.emplace_back(folder);
  return folders;
}

}  // namespace gprofml::profile
