#include "libanalysis/ranking/layer_numbers.hpp"

#include <algorithm>
#include <array>

namespace gprofml::analysis {
namespace {

// ASCII only: op names are code, and the locale must not change a report.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool ends_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  return std::equal(word.begin(), word.end(), text.end() - static_cast<std::ptrdiff_t>(word.size()),
                    [](char w, char c) { return w == lower(c); });
}

bool names_a_layer(std::string_view before) {
  constexpr std::array<std::string_view, 4> kWords{"layer", "layers", "block", "blocks"};
  constexpr std::string_view kJoints = "_-#:[ ";
  if (!before.empty() && kJoints.find(before.back()) != std::string_view::npos) {
    before.remove_suffix(1);
  }
  return std::any_of(kWords.begin(), kWords.end(),
                     [&](std::string_view word) { return ends_with_word(before, word); });
}

bool is_layer_number(std::string_view before, std::string_view after) {
  if (!after.empty() && is_letter(after[0])) return false;
  if (names_a_layer(before)) return true;
  const bool component_ends = after.empty() || after[0] == '.' || after[0] == '/';
  return component_ends && before.size() >= 2 && before.back() == '.' &&
         is_letter(before[before.size() - 2]);
}

}  // namespace

std::string star_layer_numbers(std::string_view path) {
  std::string starred;
  std::size_t i = 0;
  while (i < path.size()) {
    if (!is_digit(path[i])) {
      starred += path[i++];
      continue;
    }
    std::size_t end = i;
    while (end < path.size() && is_digit(path[end])) ++end;
    if (is_layer_number(path.substr(0, i), path.substr(end))) {
      starred += '*';
    } else {
      starred += path.substr(i, end - i);
    }
    i = end;
  }
  return starred;
}

}  // namespace gprofml::analysis
