// The program and libraries mapped into a process: /proc/PID/maps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gprofml::profile {

struct MappedFile {
  std::string path;
  std::uint64_t base = 0;   ///< where its first byte is mapped, or would be
  std::uint64_t bytes = 0;  ///< mapped, over all its parts
  bool operator==(const MappedFile&) const = default;
};

/// The files in the text of `maps` of which a part is executable, in the order of their addresses.
/// A file mapped twice (after dlclose and dlopen, say) is two.
std::vector<MappedFile> mapped_files(std::string_view maps);

/// The build id of an ELF file as hexadecimal digits; empty: it has none, or cannot be read.
std::string build_id_of(const std::string& file);

}  // namespace gprofml::profile
