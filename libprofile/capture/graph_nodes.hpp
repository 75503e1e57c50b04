// Nodes of CUDA graphs: those that work names, those that records tell of, and where they came
// from.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libprofile/capture/innermost.hpp"
#include "libprofile/spool/format.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Collects the graph nodes of one process into Trace::graph_nodes. Node ids are unique in a
/// process. A replay names the node of the executable graph, which is a copy of the one that was
/// captured; `finish` follows the copies back and finds the range in which the first was made.
class GraphNodes {
 public:
  explicit GraphNodes(Trace& trace) : trace_(trace) {}

  /// The row of a node that GPU work names; `node` is not 0.
  RowIndex row(std::uint32_t graph, std::uint64_t node);

  /// A node came into being, on a row of Trace::threads.
  void made(const spool::GraphNode& record, RowIndex thread);

  void edge(const spool::GraphEdge& record) { edges_.emplace_back(record.source, record.target); }

  /// Fills op, call, type and Trace::graph_edges. Ranges and calls must be complete, and their rows
  /// final until the trace is next renumbered as a whole.
  void finish();

 private:
  struct Birth {
    std::uint64_t original = 0;
    ThreadMoment moment;
    RowIndex row = kNoRow;
  };

  const Birth* first_of_copies(std::uint64_t node) const;
  void find_ops();
  void find_calls();
  void find_edges();

  using TargetsOf = std::unordered_map<std::uint64_t, std::vector<std::uint64_t>>;  // by source
  /// Gives the copies of nodes the edges of their originals, in graphs of which no edge is `told`.
  void carry_edges(TargetsOf targets, const std::set<std::int64_t>& told);

  Trace& trace_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, RowIndex> rows_;
  std::vector<std::uint64_t> node_of_row_;
  std::unordered_map<std::uint64_t, Birth> births_;  // by node
  std::vector<std::pair<std::uint64_t, std::uint64_t>> edges_;
};

}  // namespace gprofml::profile
