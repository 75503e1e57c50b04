// Blocks of 64 bytes become bit masks (quotes, brackets …), as in simdjson's stage 1 (Langdale and
// Lemire, "Parsing gigabytes of JSON per second", 2019). Where a block cannot hold a boundary two
// population counts are all there is to do.
#include "libprofile/import/json_scanner.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gprofml::profile {
namespace {

constexpr std::size_t kBlock = 64;

#if defined(__SSE2__)
/// Bit i: byte i of the block, with the bits of `fold` set, is `wanted`.
std::uint64_t equal_bytes(const char* block, char wanted, char fold = 0) {
  std::uint64_t mask = 0;
  for (unsigned part = 0; part < kBlock / 16; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + part);
    const __m128i equal =
        _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(fold)), _mm_set1_epi8(wanted));
    mask |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(equal)))
            << (16 * part);
  }
  return mask;
}
#else
std::uint64_t equal_bytes(const char* block, char wanted, char fold = 0) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < kBlock; ++i) mask |= std::uint64_t{(block[i] | fold) == wanted} << i;
  return mask;
}
#endif

// '[' and '{', ']' and '}' differ in one bit.
constexpr char kBracketFold = 0x20;

/// Bit i: the number of set bits at or below i is odd.
std::uint64_t prefix_parity(std::uint64_t bits) {
  for (unsigned shift = 1; shift < kBlock; shift *= 2) bits ^= bits << shift;
  return bits;
}

int count(std::uint64_t bits) {
  return __builtin_popcountll(bits);
}

}  // namespace

/// Takes one byte; true: it is a boundary.
bool JsonScanner::step(char c) {
  if (in_string_) {
    if (escaped_) {
      escaped_ = false;
      if (c == '\n') in_string_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"' || c == '\n') {
      in_string_ = false;
    }
    return false;
  }
  switch (c) {
    case '"':
      in_string_ = true;
      return false;
    case '{':
    case '[':
      ++depth_;
      return false;
    case '}':
    case ']':
      return --depth_ < 0;
    case ',':
      return depth_ == 0;
    default:
      return false;
  }
}

void JsonScanner::scan_bytes(std::string_view bytes, std::size_t offset, Found& found) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (!step(bytes[i])) continue;
    if (depth_ < 0) {
      found.array_end = offset + i;
      return;
    }
    found.last_comma = offset + i;
  }
}

void JsonScanner::scan_block(const char* block, std::size_t offset, Found& found) {
  if (equal_bytes(block, '\\') != 0 || escaped_) return scan_bytes({block, kBlock}, offset, found);
  const std::uint64_t inside =
      prefix_parity(equal_bytes(block, '"')) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  if ((equal_bytes(block, '\n') & inside) != 0) return scan_bytes({block, kBlock}, offset, found);
  const std::uint64_t opens = equal_bytes(block, '{', kBracketFold) & ~inside;
  const std::uint64_t closes = equal_bytes(block, '}', kBracketFold) & ~inside;
  in_string_ = (inside >> (kBlock - 1)) != 0;
  // Within the block the depth falls by the number of closing brackets at most: above zero
  // throughout, no boundary.
  if (depth_ > count(closes)) {
    depth_ += count(opens) - count(closes);
    return;
  }
  const std::uint64_t commas = equal_bytes(block, ',') & ~inside;
  for (std::uint64_t left = opens | closes | commas; left != 0; left &= left - 1) {
    const std::uint64_t bit = left & (~left + 1);
    const std::size_t at = offset + static_cast<std::size_t>(__builtin_ctzll(left));
    if ((bit & opens) != 0) {
      ++depth_;
    } else if ((bit & commas) != 0) {
      if (depth_ == 0) found.last_comma = at;
    } else if (--depth_ < 0) {
      found.array_end = at;
      return;
    }
  }
}

JsonScanner::Found JsonScanner::scan(std::string_view piece) {
  Found found;
  std::size_t at = 0;
  for (; at + kBlock <= piece.size(); at += kBlock) {
    scan_block(piece.data() + at, at, found);
    if (found.array_end != kNone) return found;
  }
  scan_bytes(piece.substr(at), at, found);
  return found;
}

std::size_t JsonScanner::next_boundary(std::string_view piece) {
  for (std::size_t i = 0; i < piece.size(); ++i)
    if (step(piece[i])) return i;
  return kNone;
}

}  // namespace gprofml::profile
