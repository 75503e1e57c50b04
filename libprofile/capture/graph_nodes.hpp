// Nodes of CUDA graphs: those that work names, those that records tell of, and where they came
// from.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libprofile/capture/edge_history.hpp"
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

  /// The node that was captured or made by hand, of which that of a row is a copy; 0: not recorded.
  std::uint64_t first_node_of(RowIndex row) const;

  void edge(const spool::GraphEdge& record) {
    edges_.add(record.source, record.target, {record.time_ns, record.is_removed != 0});
  }

  /// Nodes of type "conditional" that were captured or made by hand.
  std::int64_t conditional_nodes() const;
  /// Nodes that work names and of which no record tells how they came into being.
  std::int64_t unknown_nodes() const;

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

  /// A graph that came into being as the copy of another.
  struct CopiedGraph {
    Nanoseconds first_ns = std::numeric_limits<Nanoseconds>::max();
    Nanoseconds end_ns = 0;                                    ///< of the call that copied
    std::unordered_map<std::uint64_t, std::uint64_t> copy_of;  ///< by original
  };
  using CopiedGraphs = std::map<std::int64_t, CopiedGraph>;  // by graph
  CopiedGraphs copied_graphs() const;
  /// Gives the copies of nodes the edges of their originals, in graphs of which CUPTI told none.
  void carry_edges(const CopiedGraphs& copied);

  Trace& trace_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, RowIndex> rows_;
  std::vector<std::uint64_t> node_of_row_;
  std::unordered_map<std::uint64_t, Birth> births_;  // by node
  EdgeHistory edges_;
};

}  // namespace gprofml::profile
