// What the NULL stream makes wait for what, where streams' flags are recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libanalysis/graph/activities.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Work on the NULL stream of a context waits for all work submitted before to the context's
/// blocking streams (per-thread default streams are such), and work on a blocking stream for the
/// last work submitted before to the NULL stream. "Before" is the common order of activities: what
/// the driver serialises, ran in the order in which it was submitted. Streams whose flags are not
/// recorded take no part.
///
/// Only what can be the last arrival is kept: of each blocking stream the last activity since the
/// NULL stream's own predecessor, which waited for those before. So all lists together are no
/// longer than two entries an activity.
class NullStreamBarriers {
 public:
  NullStreamBarriers(const profile::Trace& trace, const Activities& work);

  /// The activities that `i` waits for because of the NULL stream; all are smaller in order.
  std::span<const ActivityIndex> before(ActivityIndex i) const {
    if (first_.empty()) return {};
    return {before_.data() + first_[i], before_.data() + first_[i + 1]};
  }

 private:
  std::vector<ActivityIndex> before_;
  std::vector<std::uint32_t> first_;  // of each activity in before_, and the end; empty: no barrier
};

}  // namespace gprofml::analysis
