// CUDA graphs: which edges ran, whole launches, and what is said of what cannot be known.
#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/libprofile/capture/merge_support.hpp"

using namespace gprofml;
using profile::kNoRow;
using profile::Trace;
using test::merged;
using test::notes_of;
using test::RecordedProcess;

namespace {

using Edge = std::pair<std::int64_t, std::int64_t>;

std::set<Edge> edges_of(const Trace& trace, std::int64_t graph) {
  std::set<Edge> edges;
  for (const profile::GraphEdge& edge : trace.graph_edges) {
    const profile::GraphNode& source = trace.graph_nodes[edge.source];
    if (source.graph_id != graph) continue;
    edges.emplace(source.node_id, trace.graph_nodes[edge.target].node_id);
  }
  return edges;
}

/// Graph 1 has nodes 101 and on; a copy of it those of its number.
void copy_graph(RecordedProcess& process, std::uint32_t copy, std::int64_t time) {
  for (std::uint64_t n = 1; n <= 3; ++n) {
    process.node(copy, copy * 100 + n, 1, time + static_cast<std::int64_t>(n), 1, 100 + n);
  }
}

}  // namespace

TEST_CASE("what runs has the edges of the moment it was instantiated") {
  RecordedProcess p;
  for (std::uint64_t n = 1; n <= 3; ++n) p.node(1, 100 + n, 1, 10);
  p.edge(101, 102, 11);
  p.edge(101, 103, 12);
  copy_graph(p, 2, 20);
  p.edge(101, 103, 30, true);
  p.edge(102, 103, 31);
  copy_graph(p, 3, 40);
  p.edge(101, 103, 50);  // back again
  copy_graph(p, 4, 60);
  p.edge(102, 103, 70, true);
  const Trace t = merged(p).trace;
  CHECK(edges_of(t, 2) == std::set<Edge>{{201, 202}, {201, 203}});
  CHECK(edges_of(t, 3) == std::set<Edge>{{301, 302}, {302, 303}});
  CHECK(edges_of(t, 4) == std::set<Edge>{{401, 402}, {401, 403}, {402, 403}});
  CHECK(edges_of(t, 1) == std::set<Edge>{{101, 102}, {101, 103}, {102, 103}});  // as last copied
}

TEST_CASE("the end of a graph takes no edge from what ran") {
  RecordedProcess p;
  for (std::uint64_t n = 1; n <= 3; ++n) p.node(1, 100 + n, 1, 10);
  p.edge(101, 102, 11);
  p.call("cudaGraphInstantiate_v12000", 1, 19, 29, 1);
  copy_graph(p, 2, 20);
  p.edge(201, 202, 28);        // a CUPTI that tells of copies
  p.edge(201, 202, 80, true);  // the executable graph is destroyed
  p.edge(101, 102, 81, true);  // and the one it was made from
  const Trace t = merged(p).trace;
  CHECK(edges_of(t, 1) == std::set<Edge>{{101, 102}});
  CHECK(edges_of(t, 2) == std::set<Edge>{{201, 202}});
}

TEST_CASE("edges added to a clone later do not hide those that came with it") {
  RecordedProcess p;
  for (std::uint64_t n = 1; n <= 3; ++n) p.node(1, 100 + n, 1, 10);
  p.edge(101, 102, 11);
  p.call("cudaGraphClone_v10000", 1, 19, 29, 1);
  copy_graph(p, 2, 20);
  p.edge(202, 203, 35);
  const Trace t = merged(p).trace;
  CHECK(edges_of(t, 2) == std::set<Edge>{{201, 202}, {202, 203}});
}

TEST_CASE("an edge that was taken away before anything was copied is none") {
  RecordedProcess p;
  for (std::uint64_t n = 1; n <= 3; ++n) p.node(1, 100 + n, 1, 10);
  p.edge(101, 102, 11);
  p.edge(101, 102, 12, true);
  p.edge(101, 103, 13);
  CHECK(edges_of(merged(p).trace, 1) == std::set<Edge>{{101, 103}});
}

TEST_CASE("conditional nodes and nodes from before the recording are noted") {
  constexpr std::uint32_t kConditional = 13;
  RecordedProcess p;
  p.node(1, 101, 1, 10, 0, 0, kConditional);
  p.node(2, 201, 1, 20, 1, 101, kConditional);  // the copy counts no second time
  p.kernel("a", 7, 100, 110, 9, 2, 201);
  p.kernel("b", 7, 110, 120, 9, 5, 555);
  p.kernel("b", 7, 120, 130, 9, 5, 555);
  p.end();
  const Trace t = merged(p).trace;
  CHECK(notes_of(t) == std::vector<std::string>{"conditional_nodes 1", "unknown_graph_nodes 1"});
  REQUIRE(t.kernels.size() == 3);
  for (profile::RowIndex row = 0; row < 3; ++row) {
    const profile::GraphNode& node = t.graph_nodes[t.kernels.graph_node[row]];
    CHECK(node.op == kNoRow);
    CHECK(node.graph_id == (row == 0 ? 2 : 5));
  }
}

TEST_CASE("a graph launched as a whole") {
  RecordedProcess p;
  p.device(0, 0xaa);
  p.context(1, 0, 7);
  p.call("cudaGraphLaunch_v10000", 1, 50, 60, 5);
  spool::GraphLaunch launch{};
  launch.start_ns = 100;
  launch.end_ns = 300;
  launch.graph = 12;
  launch.context = 1;
  launch.stream = 7;
  launch.correlation = 5;
  p.spool.add(launch, spool::RecordKind::graph_launch);
  launch.end_ns = 90;  // impossible: its time is lost, it is not
  launch.correlation = 0;
  p.spool.add(launch, spool::RecordKind::graph_launch, "more of a newer writer");
  p.kernel("k", 7, 400, 410, 0);
  p.end();
  const profile::Recording recording = merged(p);
  const Trace& t = recording.trace;
  REQUIRE(t.graph_launches.size() == 2);
  const profile::RowIndex row = t.graph_launches.start_ns[0] == 100 ? 0 : 1;
  CHECK(t.text(t.graph_launches.name[row]) == "CUDA graph 12");
  CHECK(t.graph_launches.graph_id[row] == 12);
  CHECK(t.graph_launches.end_ns[row] == 300);
  CHECK(t.graph_launches.launch[row] == 0);
  CHECK(t.graph_launches.graph_node[row] == kNoRow);
  CHECK(t.graph_launches.start_ns[1 - row] == 0);
  CHECK(t.graph_launches.launch[1 - row] == kNoRow);
  CHECK(notes_of(t) == std::vector<std::string>{"bad_times 1"});
  // One order over all tables.
  CHECK(t.graph_launches.sequence[row] < t.kernels.sequence[0]);
}
