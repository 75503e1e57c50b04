#include "libanalysis/report/printable.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace gprofml::analysis {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kEllipsis = "...";

bool is_continuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Length of the UTF-8 sequence that `text` starts with (RFC 3629: no overlong forms, surrogates or
/// values above U+10FFFF); 0 when it is not one.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text[i])) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool too_large = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || too_large ? 0 : length;
}

/// ASCII controls and C1 controls (U+0080 to U+009F): terminals obey both.
bool is_control(std::string_view sequence) {
  const auto lead = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
}

/// Byte offset of the code point number `index`; the size when there are fewer.
std::size_t offset_of(std::string_view text, std::size_t index) {
  std::size_t offset = 0;
  while (offset < text.size()) {
    if (!is_continuation(text[offset]) && index-- == 0) break;
    ++offset;
  }
  return offset;
}

std::string_view code_points(std::string_view text, std::size_t from, std::size_t count) {
  const std::string_view rest = text.substr(offset_of(text, from));
  return rest.substr(0, offset_of(rest, count));
}

void erase_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
}

/// Drops a trailing "(...)": the argument list repeats what the template arguments say.
void drop_argument_list(std::string& name) {
  if (name.empty() || name.back() != ')') return;
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) {
      if (i > 0) name.erase(i);
      return;
    }
  }
}

std::string without_boilerplate(const std::string& name) {
  std::string text = printable(name);
  if (text.rfind("void ", 0) == 0) text.erase(0, 5);
  drop_argument_list(text);
  for (const std::string_view known :
       {"(anonymous namespace)::", "at::native::", "at::", "c10::", "std::", "cutlass::"}) {
    erase_all(text, known);
  }
  return text.empty() ? printable(name) : text;
}

/// Number of code points that two texts have in common at their start.
std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  std::size_t bytes = static_cast<std::size_t>(end - a.begin());
  while (bytes > 0 && bytes < a.size() && is_continuation(a[bytes])) --bytes;
  return display_width(a.substr(0, bytes));
}

/// At most `width` columns: the first `head` and as many of the last as have room.
std::string keep_ends(std::string_view text, std::size_t head, std::size_t width) {
  const std::size_t length = display_width(text);
  if (length <= width) return std::string(text);
  const std::size_t tail = width - kEllipsis.size() - head;
  std::string out(code_points(text, 0, head));
  return out.append(kEllipsis).append(code_points(text, length - tail, tail));
}

/// The start of the word ("tilesize128x128") that holds code point `place`, at most 12 before it.
std::size_t word_start(std::string_view text, std::size_t place) {
  constexpr std::size_t kFurthest = 12;
  const std::size_t earliest = place > kFurthest ? place - kFurthest : 0;
  std::size_t start = place;
  while (start > earliest) {
    const std::string_view before = code_points(text, start - 1, 1);
    const bool is_letter = std::isalnum(static_cast<unsigned char>(before.front())) != 0;
    if (before.size() == 1 && !is_letter) break;
    --start;
  }
  return start;
}

/// Keeps a head that tells the family and the stretch around code point `place`.
std::string shorten_around(std::string_view text, std::size_t place, std::size_t width) {
  constexpr std::size_t kHead = 8;
  const std::size_t length = display_width(text);
  const std::size_t from = word_start(text, place);
  const std::size_t room = width - kHead - 2 * kEllipsis.size();
  if (from <= kHead + kEllipsis.size() || length <= width) return shorten_middle(text, width);
  std::string out(code_points(text, 0, kHead));
  out += kEllipsis;
  if (length - from <= room + kEllipsis.size()) {
    return out.append(code_points(text, length - room - kEllipsis.size(), length));
  }
  return out.append(code_points(text, from, room)).append(kEllipsis);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const std::string_view sequence = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0) {
      out += kReplacement;
    } else if (sequence == "\t" || sequence == "\n" || sequence == "\r") {
      out += ' ';
    } else if (is_control(sequence)) {
      out += '?';
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !is_continuation(c); }));
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t have = display_width(text);
  if (have < width) text.append(width - have, ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t have = display_width(text);
  if (have < width) text.insert(0, width - have, ' ');
  return text;
}

std::string shorten_middle(std::string_view text, std::size_t width) {
  return keep_ends(text, (width - kEllipsis.size() + 1) / 2, width);
}

std::string shorten_path(std::string_view path, std::size_t width) {
  return keep_ends(path, width / 5, width);
}

std::vector<std::string> short_kernel_names(const std::vector<std::string>& names,
                                            std::size_t width) {
  std::set<std::string> full_names;
  for (const std::string& name : names) full_names.insert(without_boilerplate(name));
  std::map<std::string, std::vector<std::string_view>> look_alikes;  // each list sorted
  for (const std::string& full : full_names) {
    look_alikes[shorten_middle(full, width)].push_back(full);
  }
  std::map<std::string_view, std::string> short_of;
  for (const auto& [shortened, alike] : look_alikes) {
    for (std::size_t i = 0; i < alike.size(); ++i) {
      // Of sorted texts the neighbours share the longest prefix.
      std::size_t place = 0;
      if (i > 0) place = common_prefix(alike[i], alike[i - 1]);
      if (i + 1 < alike.size()) place = std::max(place, common_prefix(alike[i], alike[i + 1]));
      short_of[alike[i]] = alike.size() == 1 ? shortened : shorten_around(alike[i], place, width);
    }
  }
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(short_of.at(without_boilerplate(name)));
  return out;
}

}  // namespace gprofml::analysis
