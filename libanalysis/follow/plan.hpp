// From coarse to fine: what to record next, so that the next report answers what this one could
// not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libanalysis/report/report.hpp"

namespace gprofml::analysis {

/// One decision: "WHAT, because WHY".
struct FollowReason {
  std::string what;
  std::string why;
};

/// FollowReason::what where it is what runs in graphs; level 1 has that.
inline constexpr char kGraphNodesWanted[] = "CUDA graphs node by node";

struct FollowPlan {
  std::uint32_t level = 1;              ///< as `run --level`
  std::vector<std::string> more_kinds;  ///< on top of the level's, as `run --kinds` names them
  std::string range;                    ///< record while it is open; empty: the whole run
  std::uint32_t skipped = 0;            ///< occurrences of it to let pass
  std::uint32_t occurrences = 0;        ///< occurrences of it to record
  std::vector<FollowReason> reasons;    ///< never empty
};

/// The plan after a report on a recording of ours and that recording's `meta`:
///
///   GPU work, or what runs in graphs, not recorded    level 1, graphs node by node
///   host-bound by code whose name is not known         level 3: call stacks
///   allocations or frees on the critical path          memory events
///   the host waits by a call that was not recorded     all calls
///   else                                               level 1
///
/// in a window of a few occurrences of the range of the steps, else of the heaviest range that
/// repeats; around the slowest step where there is no other reason. What the recording has already
/// is not asked for again. Where the recording followed another itself, `meta` says how many
/// occurrences went before its window (follow_range, follow_skipped).
FollowPlan follow_plan(const Report& report, const std::map<std::string, std::string>& meta);

}  // namespace gprofml::analysis
