// Median and percentiles of durations, one definition for steps and requests.
#pragma once

#include <cstddef>
#include <vector>

#include "libprofile/trace/time.hpp"

namespace gprofml::analysis {

/// Of sorted, not empty values; of an even number the middle of the two in the middle, rounded
/// down.
inline profile::Nanoseconds median_of_sorted(const std::vector<profile::Nanoseconds>& sorted) {
  const std::size_t n = sorted.size();
  const profile::Nanoseconds low = sorted[(n - 1) / 2];
  return low + (sorted[n / 2] - low) / 2;
}

/// Nearest rank: the smallest value that at least `percent` of the sorted, not empty values do not
/// exceed.
inline profile::Nanoseconds percentile_of_sorted(const std::vector<profile::Nanoseconds>& sorted,
                                                 std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

}  // namespace gprofml::analysis
