// Quantities as people write them on a command line: 10us, 2.5s, 4GiB, 3%.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

// Each takes a number, whole or with a decimal point, and one of its units right behind it.
// nullopt: no such quantity, or one that is too large. What lies below the smallest unit is cut
// off.

/// ns, us, ms, s, min, h. Not without a unit, but for 0.
std::optional<Nanoseconds> parse_duration(std::string_view text);

/// B, kB, MB, GB, TB (thousands) and KiB, MiB, GiB, TiB (1024s); without a unit bytes.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Percent, as parts per million, of at most 100 %.
std::optional<std::uint32_t> parse_share_ppm(std::string_view text);

}  // namespace gprofml::profile
