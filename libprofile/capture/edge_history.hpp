// Which edges a graph had when: programs add and take away dependencies until a graph is
// instantiated, and what runs has the edges of that moment.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

class EdgeHistory {
 public:
  static constexpr Nanoseconds kEnd = std::numeric_limits<Nanoseconds>::max();

  struct Change {
    Nanoseconds time_ns = 0;
    bool is_removed = false;
  };

  /// In any order: threads' events are not written in the order of their times.
  void add(std::uint64_t source, std::uint64_t target, Change change) {
    std::vector<Change>& changes = by_source_[source][target];
    const auto after =
        std::upper_bound(changes.begin(), changes.end(), change,
                         [](const Change& a, const Change& b) { return a.time_ns < b.time_ns; });
    changes.insert(after, change);
  }

  bool empty() const { return by_source_.empty(); }

  /// The nodes that ran after `source` as of a moment.
  std::vector<std::uint64_t> targets_of(std::uint64_t source, Nanoseconds time_ns) const {
    std::vector<std::uint64_t> targets;
    const auto found = by_source_.find(source);
    if (found == by_source_.end()) return targets;
    for (const auto& [target, changes] : found->second) {
      if (existed(changes, time_ns)) targets.push_back(target);
    }
    return targets;
  }

  /// Calls visit(source, target, changes) for every edge that there ever was.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [source, targets] : by_source_) {
      for (const auto& [target, changes] : targets) visit(source, target, changes);
    }
  }

  static bool existed(const std::vector<Change>& changes, Nanoseconds time_ns) {
    const auto after =
        std::upper_bound(changes.begin(), changes.end(), time_ns,
                         [](Nanoseconds time, const Change& c) { return time < c.time_ns; });
    return after != changes.begin() && !(after - 1)->is_removed;
  }

 private:
  std::unordered_map<std::uint64_t, std::map<std::uint64_t, std::vector<Change>>> by_source_;
};

}  // namespace gprofml::profile
