// CRC-32C (Castagnoli), the checksum of a spool's header and chunks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::profile {

/// The CRC-32C of `bytes` bytes, as iSCSI defines it: "123456789" gives 0xe3069283.
std::uint32_t crc32c(const void* data, std::size_t bytes);

}  // namespace gprofml::profile
