// Recorded edges of CUDA graphs against graphs whose execution is known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "libanalysis/graph/arrivals.hpp"
#include "libanalysis/graph/dependency_graph.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using namespace gprofml::analysis;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

constexpr Nanoseconds kGap = 700;

/// A graph whose nodes each run on a stream of their own; `is_work` is false for empty nodes.
struct Node {
  std::vector<std::size_t> after;
  Nanoseconds duration_ns = 0;
  bool is_work = true;
};

/// Replays it once: a node starts a gap after the last of what it waits for, a root at once.
struct Replayed {
  profile::Trace trace;
  std::vector<Nanoseconds> start_ns;
};

Replayed replay(const std::vector<Node>& nodes, Nanoseconds first_ns, bool with_edges) {
  test::TraceBuilder builder;
  builder.call("cudaGraphLaunch", 1, 0, 100, 7);
  std::vector<Nanoseconds> start_ns(nodes.size()), ready_ns(nodes.size());
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Nanoseconds start = first_ns;
    Nanoseconds latest = 0;
    for (const std::size_t before : nodes[n].after) latest = std::max(latest, ready_ns[before]);
    // An empty node takes no time: what waits for it waits for what it waited for.
    if (nodes[n].is_work && latest > 0) start = latest + kGap;
    start_ns[n] = start;
    ready_ns[n] = nodes[n].is_work ? start + nodes[n].duration_ns : latest;
    const auto id = static_cast<std::int64_t>(n) + 1;
    if (nodes[n].is_work) builder.replayed("k", 3, id, 100 + id, start, ready_ns[n], 7);
    builder.captured(3, id, "");
  }
  if (with_edges) {
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (const std::size_t before : nodes[n].after) {
        builder.edge(3, static_cast<std::int64_t>(before) + 1, static_cast<std::int64_t>(n) + 1);
      }
    }
  }
  return {builder.build(), start_ns};
}

/// Names of graph nodes that the work waits for, as their numbers from 0.
std::vector<std::int64_t> waits_for(const DependencyGraph& graph, const Arrivals& arrivals,
                                    ActivityIndex i) {
  std::vector<WorkArrival> found;
  arrivals.of(i, found);
  std::vector<std::int64_t> nodes;
  for (const WorkArrival& arrival : found) {
    if (arrival.from_host()) continue;
    const RowIndex node = graph.trace.kernels.graph_node[graph.work.row[arrival.activity]];
    nodes.push_back(graph.trace.graph_nodes[node].node_id - 1);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::int64_t node_number(const DependencyGraph& graph, ActivityIndex i) {
  return graph.trace.graph_nodes[graph.trace.kernels.graph_node[graph.work.row[i]]].node_id - 1;
}

}  // namespace

TEST_CASE("a node waits for what its edges say, not for what happened to end last") {
  // 0 -> 2; 1 runs beside them and ends later than 0, but before 2 starts.
  const std::vector<Node> nodes{{{}, 1000}, {{}, 1300}, {{0}, 500}};
  const Replayed with = replay(nodes, 50, true), without = replay(nodes, 50, false);
  const DependencyGraph graph(with.trace), bare(without.trace);
  const Arrivals arrivals(graph), guesses(bare);
  REQUIRE(node_number(graph, 2) == 2);
  CHECK(waits_for(graph, arrivals, 0).empty());
  CHECK(waits_for(graph, arrivals, 1).empty());
  CHECK(waits_for(graph, arrivals, 2) == std::vector<std::int64_t>{0});
  CHECK(waits_for(bare, guesses, 2) == std::vector<std::int64_t>{1});
}

TEST_CASE("a node without work passes on what it waits for") {
  const std::vector<Node> nodes{
      {{}, 1000}, {{}, 2000}, {{0, 1}, 0, false}, {{2}, 0, false}, {{3}, 400}};
  const Replayed replayed = replay(nodes, 50, true);
  const DependencyGraph graph(replayed.trace);
  const Arrivals arrivals(graph);
  REQUIRE(node_number(graph, 2) == 4);
  CHECK(waits_for(graph, arrivals, 2) == std::vector<std::int64_t>{0, 1});
}

TEST_CASE("the latest arrival and the gap are the start of every node of random graphs") {
  std::mt19937_64 random(4);
  std::size_t roots = 0, guessed_wrong = 0;
  for (int round = 0; round < 60; ++round) {
    std::vector<Node> nodes(2 + random() % 30);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      nodes[n].duration_ns = static_cast<Nanoseconds>(1000 + random() % 9000);
      nodes[n].is_work = random() % 5 != 0;
      for (std::size_t before = 0; before < n; ++before) {
        if (random() % 4 == 0) nodes[n].after.push_back(before);
      }
    }
    nodes[0].is_work = nodes[1].is_work = true;
    if (std::all_of(nodes.begin(), nodes.end(), [](const Node& n) { return n.after.empty(); }))
      continue;
    const Replayed with = replay(nodes, 50, true), without = replay(nodes, 50, false);
    const DependencyGraph graph(with.trace), bare(without.trace);
    const Arrivals arrivals(graph), guesses(bare);
    const auto latest = [](const Arrivals& of, ActivityIndex i) {
      std::vector<WorkArrival> found;
      of.of(i, found);
      Nanoseconds at = -1;
      for (const WorkArrival& a : found) {
        if (!a.from_host()) at = std::max(at, a.at_ns);
      }
      return at;
    };
    for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
      const Nanoseconds start = graph.work.start_ns[i];
      const Nanoseconds at = latest(arrivals, i);
      if (start == 50) {
        CHECK(at == -1);
        ++roots;
      } else {
        CHECK(at + kGap == start);
        if (latest(guesses, i) + kGap != start) ++guessed_wrong;
      }
    }
  }
  CHECK(roots > 100);
  CHECK(guessed_wrong > 30);  // else edges would not be needed
}
