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
  /// producers of events it waits for, what the NULL stream orders it behind, the nodes of its
  /// graph launch that a recorded edge names (where no edges of that graph were recorded: the node
  /// of the launch that ended last by its start), then its launch. Nothing twice. All earlier work
  /// is smaller in order.
  void of(ActivityIndex i, std::vector<WorkArrival>& arrivals) const;

 private:
  /// Work of a graph launch and the work of the same launch that it waits for.
  struct NodeEdge {
    ActivityIndex work;
    ActivityIndex before;
  };
  class Replay;

  void find_last_ended(profile::RowIndex call, std::vector<ActivityIndex>& last_ended) const;

  const DependencyGraph& graph_;
  std::vector<NodeEdge> node_edges_;  // ordered by work
  NullStreamBarriers barriers_;
};

}  // namespace gprofml::analysis
