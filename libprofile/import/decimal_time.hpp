// Decimal text to integer nanoseconds, exactly.
#pragma once

#include <optional>
#include <string_view>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// Times beyond this (146 years) are refused, so that a time plus a base, or a start plus a
/// duration, never overflows.
inline constexpr Nanoseconds kLargestTime = (Nanoseconds{1} << 62) - 1;

/// The JSON number `microseconds` in nanoseconds. Up to three decimals are exact, more are rounded
/// half to even; exponents are taken. nullopt: not a JSON number, or beyond kLargestTime.
std::optional<Nanoseconds> nanoseconds_of_microseconds(std::string_view microseconds);

}  // namespace gprofml::profile
