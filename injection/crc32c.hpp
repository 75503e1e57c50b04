// CRC-32C (Castagnoli), the checksum of spool chunks: the one x86 has an instruction for.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::injection {

std::uint32_t crc32c(const void* data, std::size_t bytes);

}  // namespace gprofml::injection
