#include "libanalysis/report/apportion.hpp"

#include <algorithm>
#include <numeric>

namespace gprofml::analysis {
namespace {

// ns · 1000 passes 64 bits after 107 days.
__extension__ using Wide = __int128;

}  // namespace

std::int64_t to_units(std::int64_t value, PrintScale scale) {
  const Wide exact = static_cast<Wide>(value) * scale.numerator;
  return static_cast<std::int64_t>((2 * exact + scale.denominator) /
                                   (2 * static_cast<Wide>(scale.denominator)));
}

std::vector<std::int64_t> apportion(const std::vector<std::int64_t>& parts, PrintScale scale,
                                    std::int64_t total_units) {
  std::vector<std::int64_t> units(parts.size());
  std::vector<std::int64_t> remainders(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Wide exact = static_cast<Wide>(parts[i]) * scale.numerator;
    units[i] = static_cast<std::int64_t>(exact / scale.denominator);
    remainders[i] = static_cast<std::int64_t>(exact % scale.denominator);
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&remainders](std::size_t a, std::size_t b) {
    return remainders[a] > remainders[b];
  });
  std::int64_t missing = total_units - std::accumulate(units.begin(), units.end(), std::int64_t{0});
  for (const std::size_t i : order) {
    if (missing <= 0) break;
    ++units[i];
    --missing;
  }
  return units;
}

}  // namespace gprofml::analysis
