// How much slower a program runs while it is recorded, from runs with and without, side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// One run without and one with recording, after one another.
struct RunPair {
  Nanoseconds without_ns = 0;  ///< wall time
  Nanoseconds with_ns = 0;
};

/// Ratios of wall times less one: 0.03 is 3 % slower.
struct PairedOverhead {
  double estimate = 0;  ///< geometric mean over the pairs
  /// 95 % interval: Student's t on the logarithms of the pairs' ratios. Absent with one pair.
  struct Interval {
    double low = 0;
    double high = 0;
  };
  std::optional<Interval> interval;
  Nanoseconds without_median_ns = 0;
  Nanoseconds with_median_ns = 0;
};

/// `pairs` is not empty and all times are positive.
PairedOverhead paired_overhead(const std::vector<RunPair>& pairs);

/// Which run comes next so that drift of the machine hits both alike: without, with, with, without,
/// without, with … True: with recording.
bool is_recorded_run(std::size_t run);

}  // namespace gprofml::profile
