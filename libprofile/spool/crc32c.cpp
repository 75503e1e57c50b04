// Slicing by 8 (Kounavis, Berry: "A Systematic Approach to Building High Performance,
// Software-Based, CRC Generators", 2005): eight table look-ups a word instead of one a byte.
// Portable and, at about 2 GB/s, never what merging waits for.
#include "libprofile/spool/crc32c.hpp"

#include <array>

namespace gprofml::profile {
namespace {

constexpr std::uint32_t kReflectedPolynomial = 0x82f63b78U;

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1U) != 0 ? kReflectedPolynomial : 0U);
    }
    tables[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte) {
    for (std::size_t table = 1; table < 8; ++table) {
      const std::uint32_t before = tables[table - 1][byte];
      tables[table][byte] = (before >> 8) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32c(const void* data, std::size_t bytes) {
  const auto* at = static_cast<const unsigned char*>(data);
  std::uint32_t crc = ~0U;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    crc ^= static_cast<std::uint32_t>(at[0]) | static_cast<std::uint32_t>(at[1]) << 8 |
           static_cast<std::uint32_t>(at[2]) << 16 | static_cast<std::uint32_t>(at[3]) << 24;
    crc = kTables[7][crc & 0xffU] ^ kTables[6][(crc >> 8) & 0xffU] ^
          kTables[5][(crc >> 16) & 0xffU] ^ kTables[4][crc >> 24] ^ kTables[3][at[4]] ^
          kTables[2][at[5]] ^ kTables[1][at[6]] ^ kTables[0][at[7]];
  }
  for (; bytes > 0; --bytes, ++at) crc = kTables[0][(crc ^ *at) & 0xffU] ^ (crc >> 8);
  return ~crc;
}

}  // namespace gprofml::profile
