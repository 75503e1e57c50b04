// Interned strings: every name of a trace is stored once and referred to by a 32-bit id.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gprofml::profile {

/// Index of a string in a StringTable. 0 is the empty string.
using StringId = std::uint32_t;

/// Owns the strings of one trace. Ids are dense, start at 0 (the empty string) and stay valid for
/// the table's life. Not thread-safe.
class StringTable {
 public:
  StringTable();
  StringTable(const StringTable& other);
  StringTable& operator=(const StringTable& other);
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;
  ~StringTable() = default;

  /// The id of `text`, added when it is new.
  StringId intern(std::string_view text);

  /// The string behind an id. The view lives as long as the table.
  std::string_view view(StringId id) const { return views_[id]; }

  std::size_t size() const { return views_.size(); }

 private:
  std::deque<std::string> storage_;  // deque: an element never moves, so views stay valid
  std::vector<std::string_view> views_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace gprofml::profile
