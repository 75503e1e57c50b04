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

struct Masks {
  std::uint64_t quote, backslash, open, close, line_break;
};

#if defined(__SSE2__)
Masks masks_of(const char* block) {
  Masks masks{};
  for (unsigned part = 0; part < kBlock / 16; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + part);
    // '[' and '{', ']' and '}' differ in one bit.
    const __m128i folded = _mm_or_si128(bytes, _mm_set1_epi8(0x20));
    const auto bits = [part](__m128i equal) {
      return static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_epi8(equal)))
             << (16 * part);
    };
    masks.quote |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    masks.backslash |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    masks.open |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('{')));
    masks.close |= bits(_mm_cmpeq_epi8(folded, _mm_set1_epi8('}')));
    masks.line_break |= bits(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')));
  }
  return masks;
}
#else
Masks masks_of(const char* block) {
  Masks masks{};
  for (std::size_t i = 0; i < kBlock; ++i) {
    const std::uint64_t bit = std::uint64_t{1} << i;
    switch (block[i]) {
      case '"':
        masks.quote |= bit;
        break;
      case '\\':
        masks.backslash |= bit;
        break;
      case '{':
      case '[':
        masks.open |= bit;
        break;
      case '}':
      case ']':
        masks.close |= bit;
        break;
      case '\n':
        masks.line_break |= bit;
        break;
      default:
        break;
    }
  }
  return masks;
}
#endif

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
  const Masks masks = masks_of(block);
  if (masks.backslash != 0 || escaped_) return scan_bytes({block, kBlock}, offset, found);
  const std::uint64_t inside = prefix_parity(masks.quote) ^ (in_string_ ? ~std::uint64_t{0} : 0);
  if ((masks.line_break & inside) != 0) return scan_bytes({block, kBlock}, offset, found);
  const int closes = count(masks.close & ~inside);
  // Within the block the depth falls by `closes` at most: above zero throughout, no boundary.
  if (depth_ <= closes) return scan_bytes({block, kBlock}, offset, found);
  depth_ += count(masks.open & ~inside) - closes;
  in_string_ = (inside >> (kBlock - 1)) != 0;
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
