// A short run of decimal digits as a number, eight at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace gprofml::profile {

/// The most digits whose number always fits 63 bits.
inline constexpr std::size_t kFewDigits = 18;

namespace detail {

/// Eight digits as one 64-bit word: checked and added up in parallel (D. Lemire, "Quickly parsing
/// eight digits", 2018).
inline bool eight_digits(const char* text, std::uint64_t& value) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  constexpr std::uint64_t kHighNibbles = 0xF0F0F0F0F0F0F0F0, kZeros = 0x3030303030303030;
  const bool digits =
      (word & kHighNibbles) == kZeros && ((word + 0x0606060606060606) & kHighNibbles) == kZeros;
  word -= kZeros;
  word = word * 10 + (word >> 8);
  constexpr std::uint64_t kPairs = 0x000000FF000000FF;
  value =
      (((word & kPairs) * 0x000F424000000064) + (((word >> 16) & kPairs) * 0x0000271000000001)) >>
      32;
  return digits;
}

}  // namespace detail

/// The number that `text` writes; nullopt: it is empty, longer than kFewDigits or not all digits.
inline std::optional<std::int64_t> few_digits(std::string_view text) {
  if (text.empty() || text.size() > kFewDigits) return std::nullopt;
  std::uint64_t value = 0;
  std::size_t at = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; at + 8 <= text.size(); at += 8) {
      std::uint64_t eight = 0;
      if (!detail::eight_digits(text.data() + at, eight)) return std::nullopt;
      value = value * 100'000'000 + (eight & 0xFFFFFFFF);
    }
  }
  for (; at < text.size(); ++at) {
    if (text[at] < '0' || text[at] > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(text[at] - '0');
  }
  return static_cast<std::int64_t>(value);
}

}  // namespace gprofml::profile
