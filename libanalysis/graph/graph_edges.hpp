// Recorded dependencies between the nodes of CUDA graphs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// For each node of a graph the nodes it waits for.
class GraphEdges {
 public:
  explicit GraphEdges(const profile::Trace& trace);

  /// No edge of any graph was recorded.
  bool empty() const { return sources_.empty(); }

  /// Whether edges of the graph that this node belongs to were recorded. A node of such a graph
  /// that has none waits for no node; in any other graph nothing is known.
  bool recorded_for(profile::RowIndex node) const { return !empty() && recorded_[node]; }

  /// The nodes that `node` waits for.
  std::span<const profile::RowIndex> sources(profile::RowIndex node) const {
    return {sources_.data() + first_[node], sources_.data() + first_[node + 1]};
  }

 private:
  std::vector<std::uint32_t> first_;  // by node, into sources_
  std::vector<profile::RowIndex> sources_;
  std::vector<bool> recorded_;  // by node
};

}  // namespace gprofml::analysis
