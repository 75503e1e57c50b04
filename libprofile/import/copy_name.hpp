// What the name of a copy or fill tells: "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
#pragma once

#include <string_view>

#include "libprofile/trace/columns.hpp"

namespace gprofml::profile {

struct CopyTraits {
  CopyKind kind = CopyKind::unknown;
  MemoryKind source = MemoryKind::unknown;
  MemoryKind target = MemoryKind::unknown;
};

/// Reads CUPTI's and ROCm's ways to write a copy ("HtoD", "CopyHostToDevice", "Peer to Peer") in
/// any case, and the memory kinds in the parentheses. `kind` is used where the name has none.
CopyTraits copy_traits(std::string_view name, std::string_view kind);

/// The memory kind in the parentheses of a fill's name.
MemoryKind fill_memory(std::string_view name);

}  // namespace gprofml::profile
