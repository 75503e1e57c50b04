#include "libprofile/trace/string_table.hpp"

namespace gprofml::profile {

StringTable::StringTable() {
  intern("");
}

StringTable::StringTable(const StringTable& other) {
  for (std::string_view text : other.views_) intern(text);
}

StringTable& StringTable::operator=(const StringTable& other) {
  if (this != &other) *this = StringTable(other);
  return *this;
}

StringId StringTable::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  const auto id = static_cast<StringId>(views_.size());
  storage_.emplace_back(text);
  views_.push_back(storage_.back());
  ids_.emplace(storage_.back(), id);
  return id;
}

}  // namespace gprofml::profile
