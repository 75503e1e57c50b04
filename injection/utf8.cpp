#include "injection/utf8.hpp"

#include <cstring>

#include <cstdint>

namespace gprofml::injection {
namespace {

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0u) == 0x80u;
}

/// Bytes of one character in `bytes`.
std::size_t encode(std::uint32_t point, char (&bytes)[4]) {
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) point = 0xfffd;
  const auto tail = [point](unsigned shift) {
    return static_cast<char>(0x80u | ((point >> shift) & 0x3fu));
  };
  if (point < 0x80) {
    bytes[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    bytes[0] = static_cast<char>(0xc0u | (point >> 6));
    bytes[1] = tail(0);
    return 2;
  }
  if (point < 0x10000) {
    bytes[0] = static_cast<char>(0xe0u | (point >> 12));
    bytes[1] = tail(6);
    bytes[2] = tail(0);
    return 3;
  }
  bytes[0] = static_cast<char>(0xf0u | (point >> 18));
  bytes[1] = tail(12);
  bytes[2] = tail(6);
  bytes[3] = tail(0);
  return 4;
}

}  // namespace

std::size_t utf8_length(const char* text, std::size_t most) {
  std::size_t length = strnlen(text, most + 1);
  if (length <= most) return length;
  length = most;
  // Bytes that are no UTF-8 at all have no boundary to look for.
  for (int back = 0; back < 3 && is_continuation(text[length]); ++back) --length;
  return is_continuation(text[length]) ? most : length;
}

std::size_t to_utf8(const wchar_t* text, char* target, std::size_t room) {
  std::size_t size = 0;
  for (; *text != L'\0'; ++text) {
    char bytes[4];
    const std::size_t length = encode(static_cast<std::uint32_t>(*text), bytes);
    if (size + length > room) break;
    memcpy(target + size, bytes, length);
    size += length;
  }
  return size;
}

}  // namespace gprofml::injection
