// Everything that a piece of GPU work is recorded to have waited for, and when each was ready.
#pragma once

#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/graph/null_stream.hpp"

namespace gprofml::analysis {

/// One thing that had to happen before GPU work could start.
struct WorkArrival {
  ActivityIndex activity = kNoActivity;      ///< earlier work; kNoActivity: the launch
  profile::RowIndex call = profile::kNoRow;  ///< the launch call; kNoRow: earlier work
  profile::Nanoseconds at_ns = 0;            ///< never after the start of the work

  bool from_host() const { return activity == kNoActivity; }
};

/// The recorded arrivals of definitions.md, "Critical path", for all work of a trace at once:
/// earlier work arrives at its corrected end, the launch at its start + λ.
class Arrivals {
 public:
  explicit Arrivals(const DependencyGraph& graph);

  /// The arrivals of `i`, in place of what `arrivals` held: the work before it on its stream, the
  /// producers of events it waits for, what the NULL stream orders it behind, the node of its graph
  /// launch that ended last by its start, then its launch. Nothing twice. All earlier work is
  /// smaller in order.
  void of(ActivityIndex i, std::vector<WorkArrival>& arrivals) const;

 private:
  void find_nodes_before(profile::RowIndex call);

  const DependencyGraph& graph_;
  std::vector<ActivityIndex> node_before_;  // by activity; empty where no launch has two
  NullStreamBarriers barriers_;
};

}  // namespace gprofml::analysis
