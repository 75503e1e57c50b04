// What is asked of an ELF file beside its symbols: whether it is the one that was mapped, and where
// its parts go.
#pragma once

#include <cstdint>
#include <optional>

#include "libprofile/symbols/process_image.hpp"

namespace gprofml::profile {

/// Whether the file at `code.path` is the one that was mapped: the same build id, or, where either
/// has none, the same size and time of change.
bool is_same_file(const MappedCode& code);

/// What has to be added to the addresses in the file to have those in the process; nullopt: the
/// file is no ELF file or has nothing executable at that offset.
std::optional<std::uint64_t> load_bias(const MappedCode& code);

}  // namespace gprofml::profile
