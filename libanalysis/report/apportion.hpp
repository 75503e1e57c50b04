// Rounding for people: the printed parts of a printed total add up to it.
#pragma once

#include <cstdint>
#include <vector>

namespace gprofml::analysis {

/// What one printed unit is worth: value · numerator / denominator is the number of units. Tenths
/// of a millisecond of a time in ns are {1, 100'000}, tenths of a percent of w ns {1000, w}.
struct PrintScale {
  std::int64_t numerator = 1;
  std::int64_t denominator = 1;  ///< > 0
};

/// `value` (≥ 0) in whole units, nearest, halves up.
std::int64_t to_units(std::int64_t value, PrintScale scale);

/// `parts` (each ≥ 0) in whole units that add up to `total_units`, each less than one unit from its
/// exact value: every part is rounded down, then those with the largest remainders get one more
/// (Hamilton's method; ties: the first). `total_units` must be the exact sum rounded up or down.
std::vector<std::int64_t> apportion(const std::vector<std::int64_t>& parts, PrintScale scale,
                                    std::int64_t total_units);

}  // namespace gprofml::analysis
