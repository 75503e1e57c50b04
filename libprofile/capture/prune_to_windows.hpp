// A recording in windows keeps what belongs to them, and no more.
#pragma once

#include <cstdint>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

struct WindowInterval {
  Nanoseconds start_ns = 0;
  Nanoseconds end_ns = 0;
};

struct Pruned {
  std::int64_t work = 0;   ///< GPU activities launched outside of all windows
  std::int64_t other = 0;  ///< rows of all other tables
};

/// Leaves out of the trace of one process what meets none of `windows` (sorted, disjoint):
///   GPU work       launched by a call that is not kept; without a call, what does not run in one
///   calls          not in a window, and those that straddle its end if they launched work
///   ranges         that meet none, but for those that nodes of graphs were captured in
/// and what belongs to rows that are gone. What happened at no time stays.
Pruned prune_to_windows(Trace& trace, const std::vector<WindowInterval>& windows);

/// Leaves out what does not meet the last part of a recording:
///   GPU work       that does not run in it, whenever it was launched
///   calls          not in it, but for those that launched what runs in it
///   ranges         not in it, but for those around such a call or a capture of graph nodes
/// and what belongs to rows that are gone.
Pruned prune_to_last(Trace& trace, const WindowInterval& last);

}  // namespace gprofml::profile
