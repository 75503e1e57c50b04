#include "libprofile/symbols/perf_map.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

namespace gprofml::profile {
namespace {

/// Takes a hexadecimal number and the blank behind it off the front.
bool take_number(std::string_view& line, std::uint64_t& number) {
  if (line.substr(0, 2) == "0x") line.remove_prefix(2);
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, 16);
  if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

/// "py::name:/folder/file.py" is Python's way; a qualified name has no colon but Python's own do
/// not either, and file names may.
PerfMap::Function function_of(std::string_view text) {
  constexpr std::string_view kPython = "py::";
  if (text.substr(0, kPython.size()) != kPython) return {std::string(text), {}};
  text.remove_prefix(kPython.size());
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return {std::string(text), {}};
  return {std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

}  // namespace

PerfMap PerfMap::read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  return parse(std::string(std::istreambuf_iterator<char>(file), {}));
}

PerfMap PerfMap::parse(const std::string& text) {
  PerfMap map;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    std::uint64_t begin = 0, size = 0;
    if (!take_number(line, begin) || !take_number(line, size) || line.empty() || size == 0 ||
        size > std::numeric_limits<std::uint64_t>::max() - begin) {
      continue;
    }
    map.entries_.push_back({begin, begin + size, function_of(line)});
  }
  map.order();
  return map;
}

/// Later lines take the place of what they overlap.
void PerfMap::order() {
  std::map<std::uint64_t, Entry> kept;  // by begin, disjoint
  for (Entry& entry : entries_) {
    auto at = kept.lower_bound(entry.begin);
    if (at != kept.begin() && std::prev(at)->second.end > entry.begin) --at;
    while (at != kept.end() && at->second.begin < entry.end) at = kept.erase(at);
    kept.emplace(entry.begin, std::move(entry));
  }
  entries_.clear();
  for (auto& [begin, entry] : kept) entries_.push_back(std::move(entry));
}

const PerfMap::Function* PerfMap::find(std::uint64_t address) const {
  const auto after = std::upper_bound(entries_.begin(), entries_.end(), address,
                                      [](std::uint64_t a, const Entry& e) { return a < e.begin; });
  if (after == entries_.begin()) return nullptr;
  const Entry& entry = *std::prev(after);
  return address < entry.end ? &entry.function : nullptr;
}

}  // namespace gprofml::profile
