#include "injection/crc32c.hpp"

#include <array>
#include <cstring>

namespace gprofml::injection {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78u;

using Table = std::array<std::uint32_t, 256>;

constexpr Table make_table() {
  Table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1u) ? kReflectedPolynomial : 0u);
    table[byte] = crc;
  }
  return table;
}

constexpr Table kTable = make_table();

std::uint32_t by_table(std::uint32_t crc, const unsigned char* at, std::size_t bytes) {
  for (; bytes > 0; --bytes, ++at) crc = kTable[(crc ^ *at) & 0xffu] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
// The instruction answers after three cycles, so three blocks are taken side by side. What stands
// behind a block is then accounted for as if it were zeros, for checksums are linear: the zeros'
// effect on each bit, by bytes of the checksum.
constexpr std::size_t kBlock = 1024;
using Shift = std::array<Table, 4>;

constexpr Shift make_shift() {
  std::array<std::uint32_t, 32> of_bit{};
  for (std::uint32_t bit = 0; bit < 32; ++bit) {
    std::uint32_t crc = 1u << bit;
    for (std::size_t zero = 0; zero < kBlock; ++zero) crc = kTable[crc & 0xffu] ^ (crc >> 8);
    of_bit[bit] = crc;
  }
  Shift shift{};
  for (std::uint32_t byte = 0; byte < 4; ++byte) {
    for (std::uint32_t value = 0; value < 256; ++value) {
      for (std::uint32_t bit = 0; bit < 8; ++bit) {
        if ((value >> bit & 1u) != 0) shift[byte][value] ^= of_bit[8 * byte + bit];
      }
    }
  }
  return shift;
}

constexpr Shift kShift = make_shift();

std::uint32_t over_block(std::uint64_t crc) {
  return kShift[0][crc & 0xffu] ^ kShift[1][crc >> 8 & 0xffu] ^ kShift[2][crc >> 16 & 0xffu] ^
         kShift[3][crc >> 24 & 0xffu];
}

std::uint64_t word_at(const unsigned char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::uint32_t crc,
                                                               const unsigned char* at,
                                                               std::size_t bytes) {
  std::uint64_t first = crc;
  for (; bytes >= 3 * kBlock; bytes -= 3 * kBlock, at += 3 * kBlock) {
    std::uint64_t second = 0, third = 0;
    for (std::size_t i = 0; i < kBlock; i += 8) {
      first = __builtin_ia32_crc32di(first, word_at(at + i));
      second = __builtin_ia32_crc32di(second, word_at(at + kBlock + i));
      third = __builtin_ia32_crc32di(third, word_at(at + 2 * kBlock + i));
    }
    first = over_block(over_block(first) ^ second) ^ third;
  }
  for (; bytes >= 8; bytes -= 8, at += 8) first = __builtin_ia32_crc32di(first, word_at(at));
  crc = static_cast<std::uint32_t>(first);
  for (; bytes > 0; --bytes, ++at) crc = __builtin_ia32_crc32qi(crc, *at);
  return crc;
}
#endif

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ~by_instruction(~0u, at, bytes);
#endif
  return ~by_table(~0u, at, bytes);
}

}  // namespace gprofml::injection
