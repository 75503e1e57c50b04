// Text as the program hands it over, made UTF-8.
#pragma once

#include <cstddef>

namespace gprofml::injection {

/// No name is longer; what stands behind is cut off, between characters.
inline constexpr std::size_t kLongestName = 4000;

/// Bytes of `text` up to its end, at most `most`, never half a character.
std::size_t utf8_length(const char* text, std::size_t most);

/// Writes `text` (UTF-32, as wchar_t is here) as UTF-8, at most `room` bytes, whole characters
/// only; bytes written. What is no character becomes U+FFFD.
std::size_t to_utf8(const wchar_t* text, char* target, std::size_t room);

}  // namespace gprofml::injection
