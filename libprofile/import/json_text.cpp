#include "libprofile/import/json_text.hpp"

#include <charconv>

#include "libprofile/import/digits.hpp"

namespace gprofml::profile {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

template <typename Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::optional<std::uint32_t> hex4(std::string_view text) {
  std::uint32_t value = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, value, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return value;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

/// Takes the escape \uXXXX, or a surrogate pair of two, at the front of `text` (the backslash
/// included); returns how many bytes it took, 0 when it is none.
std::size_t take_unicode(std::string& out, std::string_view text) {
  auto code = hex4(text.substr(2));
  if (!code) return 0;
  if (*code < 0xD800 || *code > 0xDFFF) return append_utf8(out, *code), 6;
  if (*code > 0xDBFF || text.size() < 12 || text[6] != '\\' || text[7] != 'u') return 0;
  const auto low = hex4(text.substr(8));
  if (!low || *low < 0xDC00 || *low > 0xDFFF) return 0;
  append_utf8(out, 0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
  return 12;
}

/// The length of the UTF-8 sequence at `text`, 0 when there is none (Unicode 15, table 3-7).
std::size_t utf8_length(const unsigned char* text, std::size_t size) {
  const unsigned char lead = text[0];
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > size) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((text[i] & 0xC0) != 0x80) return 0;
  const bool overlong = (lead == 0xE0 && text[1] < 0xA0) || (lead == 0xF0 && text[1] < 0x90);
  const bool surrogate = lead == 0xED && text[1] > 0x9F;
  const bool too_large = lead == 0xF4 && text[1] > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

}  // namespace

std::string_view trimmed(std::string_view token) {
  while (!token.empty() && is_blank(token.back())) token.remove_suffix(1);
  return token;
}

std::optional<std::string_view> string_content(std::string_view token) {
  token = trimmed(token);
  if (token.size() < 2 || token.front() != '"' || token.back() != '"') return std::nullopt;
  return token.substr(1, token.size() - 2);
}

std::string unescaped(std::string_view content) {
  std::string out;
  out.reserve(content.size());
  for (std::size_t i = 0; i < content.size();) {
    if (content[i] != '\\' || i + 1 == content.size()) {
      out += content[i++];
      continue;
    }
    std::size_t taken = 2;
    switch (content[i + 1]) {
      case '"':
      case '\\':
      case '/':
        out += content[i + 1];
        break;
      case 'b':
        out += '\b';
        break;
      case 'f':
        out += '\f';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 't':
        out += '\t';
        break;
      case 'u':
        taken = take_unicode(out, content.substr(i));
        break;
      default:
        taken = 0;
        break;
    }
    if (taken == 0) out += content[i++];
    i += taken;
  }
  return out;
}

std::optional<std::int64_t> integer_of(std::string_view token) {
  token = trimmed(token);
  // Ids and sizes are nearly always a few digits; anything else takes the general way.
  if (const auto value = few_digits(token)) return value;
  return whole_number<std::int64_t>(token);
}

std::optional<std::uint64_t> unsigned_of(std::string_view token) {
  return whole_number<std::uint64_t>(trimmed(token));
}

void repair(char* text, std::size_t size) {
  for (std::size_t i = 0; i < size;) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(text) + i;
    const std::size_t length = utf8_length(bytes, size - i);
    if (length == 0)
      text[i] = '?';
    else if (bytes[0] < 0x20)
      text[i] = ' ';
    i += length == 0 ? 1 : length;
  }
}

}  // namespace gprofml::profile
