// GPU work by the time it ended, for "what ended last by t?".
#pragma once

#include <cstdint>
#include <vector>

#include "libanalysis/graph/activities.hpp"

namespace gprofml::analysis {

/// The activities of each of several groups (streams, processes, launches), sorted by (corrected
/// end, index). Every question is a binary search.
class EndOrder {
 public:
  /// `group_of[i]` is the group of activity i, below `groups`; kNoRow: in none.
  EndOrder(const Activities& work, const std::vector<profile::RowIndex>& group_of,
           std::size_t groups);

  /// Goes through a group's activities that ended in (after, until], the last end first, until
  /// `accept(activity)`; the accepted one, or kNoActivity.
  template <class Accept>
  ActivityIndex find_last(profile::RowIndex group, profile::Nanoseconds after_ns,
                          profile::Nanoseconds until_ns, Accept accept) const {
    for (std::uint32_t at = upper_bound(group, until_ns); at > first_[group]; --at) {
      const ActivityIndex i = order_[at - 1];
      if (work_.corrected_end_ns[i] <= after_ns) break;
      if (accept(i)) return i;
    }
    return kNoActivity;
  }

 private:
  std::uint32_t upper_bound(profile::RowIndex group, profile::Nanoseconds t_ns) const;

  const Activities& work_;
  std::vector<ActivityIndex> order_;
  std::vector<std::uint32_t> first_;  // of each group in order_, and the end
};

}  // namespace gprofml::analysis
