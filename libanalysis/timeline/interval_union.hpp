// Lengths of unions of intervals, in one pass over time-ordered input.
#pragma once

#include <algorithm>
#include <vector>

#include "libprofile/trace/time.hpp"

namespace gprofml::analysis {

/// Half-open interval [start, end).
struct Interval {
  profile::Nanoseconds start_ns;
  profile::Nanoseconds end_ns;
};

/// Collects intervals in order of their starts into their union: disjoint, sorted, not touching.
class IntervalUnion {
 public:
  void add(profile::Nanoseconds start_ns, profile::Nanoseconds end_ns) {
    if (end_ns <= start_ns) return;
    if (!parts_.empty() && start_ns <= parts_.back().end_ns) {
      parts_.back().end_ns = std::max(parts_.back().end_ns, end_ns);
    } else {
      parts_.push_back({start_ns, end_ns});
    }
  }

  const std::vector<Interval>& parts() const { return parts_; }

  profile::Nanoseconds length_ns() const {
    profile::Nanoseconds total = 0;
    for (const Interval& p : parts_) total += p.end_ns - p.start_ns;
    return total;
  }

 private:
  std::vector<Interval> parts_;
};

}  // namespace gprofml::analysis
