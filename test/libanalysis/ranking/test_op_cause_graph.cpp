// The invariants that definitions.md demands of the op-to-hardware-event graph and its PageRank.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <variant>

#include "libanalysis/critical_path/walk.hpp"
#include "libanalysis/ranking/op_cause_graph.hpp"
#include "libanalysis/ranking/rank.hpp"
#include "libanalysis/timeline/build.hpp"
#include "libanalysis/window/choose.hpp"
#include "test/seeds.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/to_trace.hpp"
#include "test/synth/works.hpp"

namespace gprofml::analysis {
namespace {

using profile::Nanoseconds;

// Everything a ranking is made from.
struct Analysed {
  explicit Analysed(const profile::Trace& trace)
      : graph(trace),
        tree(trace),
        window(whole_trace(graph).value()),
        path(find_critical_path(graph, tree, window, build_timeline(graph, window))) {}

  OpCauseGraph with(const std::vector<ChargedDelay>& delays) const {
    return build_op_cause_graph(graph, tree, path, delays);
  }
  std::vector<ChargedDelay> delays() const { return charged_delays(graph, window, {}); }

  DependencyGraph graph;
  RangeTree tree;
  Window window;
  CriticalPath path;
};

using Shares = std::map<std::pair<RankKind, std::string>, double>;

Shares scores(const OpCauseGraph& graph) {
  Shares shares;
  for (const RankedNode& n : rank_nodes(graph).nodes) {
    const bool added = shares.emplace(std::pair(n.kind, n.name), n.score).second;
    CHECK(added);
  }
  return shares;
}

std::map<std::string, Nanoseconds> path_ns(const OpCauseGraph& graph, RankKind kind) {
  std::map<std::string, Nanoseconds> by_name;
  for (const OpCauseGraph::Node& n : graph.nodes) {
    if (n.kind == kind) by_name[n.name] += n.path_ns;
  }
  return by_name;
}

Nanoseconds sum(const std::map<std::string, Nanoseconds>& by_name) {
  Nanoseconds total = 0;
  for (const auto& entry : by_name) total += entry.second;
  return total;
}

// Splits a node into a quarter and three quarters of all its edges. (All weights grow 16-fold, so
// that they stay whole; scaling changes nothing.)
OpCauseGraph split(OpCauseGraph graph, std::uint32_t node) {
  const auto twin = static_cast<std::uint32_t>(graph.nodes.size());
  graph.nodes.push_back(graph.nodes[node]);
  graph.nodes[twin].name += " twin";
  graph.path_ns *= 16;
  for (OpCauseGraph::Node& n : graph.nodes) n.path_ns *= 16;
  graph.nodes[node].path_ns = graph.nodes[node].path_ns / 4 * 3;
  graph.nodes[twin].path_ns /= 4;
  std::vector<OpCauseGraph::Edge> edges;
  const auto ends = [&](std::uint32_t end) {
    using Parts = std::vector<std::pair<std::uint32_t, Nanoseconds>>;
    return end == node ? Parts{{node, 3}, {twin, 1}} : Parts{{end, 4}};
  };
  for (const OpCauseGraph::Edge& e : graph.edges) {
    for (const auto& from : ends(e.from)) {
      for (const auto& to : ends(e.to)) {
        edges.push_back({from.first, to.first, e.ns * from.second * to.second});
      }
    }
  }
  graph.edges = edges;
  return graph;
}

// Every second piece of work that a program submits gets another name.
synth::Program with_second_names(synth::Program program) {
  bool second = false;
  for (synth::HostThread& thread : program.threads) {
    for (synth::Action& action : thread.actions) {
      auto* submit = std::get_if<synth::Submit>(&action);
      if (submit == nullptr) continue;
      if (second) submit->work.name += "#2";
      second = !second;
    }
  }
  return program;
}

profile::Trace random_trace(int seed) {
  return synth::to_trace(synth::run(synth::random_program(static_cast<std::uint64_t>(seed))));
}

bool is_carrier_pair(const OpCauseGraph& graph, const OpCauseGraph::Edge& e) {
  return graph.nodes[e.from].kind == RankKind::carrier &&
         graph.nodes[e.to].kind == RankKind::carrier;
}

}  // namespace

TEST_CASE("ranking: each layer sums to the path, and the causes to its classes") {
  for (int seed = 0; seed < test::seed_count(60); ++seed) {
    INFO("seed " << seed);
    const profile::Trace trace = random_trace(seed);
    const Analysed a(trace);
    REQUIRE(a.path.exists);
    const OpCauseGraph graph = a.with(a.delays());
    CHECK(graph.path_ns == a.path.window_ns);
    for (const RankKind kind : {RankKind::op, RankKind::carrier, RankKind::cause}) {
      CHECK(sum(path_ns(graph, kind)) == a.path.window_ns);
    }
    const auto of = [&](TimeClass c) { return a.path.by_class[static_cast<std::size_t>(c)]; };
    std::map<std::string, Nanoseconds> causes = path_ns(graph, RankKind::cause);
    CHECK(causes["running"] == of(TimeClass::kernel) + of(TimeClass::communication));
    CHECK(causes["copy_engine"] == of(TimeClass::copy) + of(TimeClass::fill));
    for (int c = 0; c < kTimeClassCount; ++c) {
      const auto time_class = static_cast<TimeClass>(c);
      if (is_gpu_work(time_class)) continue;
      CHECK(causes[std::string(name_of(time_class))] == of(time_class));
    }
  }
}

TEST_CASE("ranking: without waits the score is the share of the path") {
  for (int seed = 0; seed < test::seed_count(60); ++seed) {
    INFO("seed " << seed);
    const profile::Trace trace = random_trace(seed);
    const Ranking ranking = rank_nodes(Analysed(trace).with({}));
    REQUIRE(!ranking.nodes.empty());
    for (const RankedNode& n : ranking.nodes) {
      CHECK(n.score == Approx(n.path_share).epsilon(0).margin(1e-12));
    }
  }
}

TEST_CASE("ranking: with waits the scores of each kind sum to one and ops keep their share") {
  std::size_t carrier_pairs = 0;
  bool differs = false;
  for (int seed = 0; seed < test::seed_count(60); ++seed) {
    INFO("seed " << seed);
    const profile::Trace trace = random_trace(seed);
    const Analysed a(trace);
    const OpCauseGraph graph = a.with(a.delays());
    for (const OpCauseGraph::Edge& e : graph.edges) {
      carrier_pairs += is_carrier_pair(graph, e) ? 1 : 0;
    }
    const Ranking ranking = rank(a.graph, a.tree, a.window, {}, a.path);
    CHECK(ranking.residual < 1e-12);
    std::array<double, 3> score{}, share{};
    for (const RankedNode& n : ranking.nodes) {
      score[static_cast<std::size_t>(n.kind)] += n.score;
      share[static_cast<std::size_t>(n.kind)] += n.path_share;
      if (n.kind == RankKind::op) {
        CHECK(n.score == Approx(n.path_share).epsilon(0).margin(1e-12));
      }
      differs = differs || std::abs(n.score - n.path_share) > 0.01;
    }
    for (const double s : score) CHECK(s == Approx(1.0).epsilon(0).margin(1e-12));
    for (const double s : share) CHECK(s == Approx(1.0).epsilon(0).margin(1e-12));
    CHECK(std::is_sorted(
        ranking.nodes.begin(), ranking.nodes.end(), [](const RankedNode& x, const RankedNode& y) {
          return std::tie(x.kind, y.score, x.name) < std::tie(y.kind, x.score, y.name);
        }));
  }
  CHECK(carrier_pairs > 0);
  CHECK(differs);
}

TEST_CASE("ranking: scaling all times changes nothing") {
  for (int seed = 0; seed < test::seed_count(60); ++seed) {
    INFO("seed " << seed);
    const profile::Trace trace = random_trace(seed);
    const Analysed a(trace);
    const OpCauseGraph graph = a.with(a.delays());
    OpCauseGraph scaled = graph;
    scaled.path_ns *= 7;
    for (OpCauseGraph::Node& n : scaled.nodes) n.path_ns *= 7;
    for (OpCauseGraph::Edge& e : scaled.edges) e.ns *= 7;
    const Shares before = scores(graph);
    for (const auto& [node, score] : scores(scaled)) {
      CHECK(score == Approx(before.at(node)).epsilon(0).margin(1e-11));
    }
  }
}

TEST_CASE("ranking: splitting a class leaves its sum and all others unchanged") {
  for (int seed = 0; seed < test::seed_count(40); ++seed) {
    INFO("seed " << seed);
    const profile::Trace trace = random_trace(seed);
    const Analysed a(trace);
    const OpCauseGraph graph = a.with(a.delays());
    const Shares before = scores(graph);
    for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
      Shares after = scores(split(graph, node));
      const std::pair whole(graph.nodes[node].kind, graph.nodes[node].name);
      const std::pair twin(whole.first, whole.second + " twin");
      after.at(whole) += after.at(twin);
      after.erase(twin);
      REQUIRE(after.size() == before.size());
      for (const auto& [name, score] : after) {
        CHECK(score == Approx(before.at(name)).epsilon(0).margin(1e-10));
      }
    }
  }
}

TEST_CASE("ranking: giving half of a kernel's runs another name leaves the sum without waits") {
  for (int seed = 0; seed < test::seed_count(40); ++seed) {
    INFO("seed " << seed);
    const synth::Program program = synth::random_program(static_cast<std::uint64_t>(seed));
    const profile::Trace one = synth::to_trace(synth::run(program));
    const profile::Trace two = synth::to_trace(synth::run(with_second_names(program)));
    const Shares before = scores(Analysed(one).with({}));
    Shares after;
    for (const auto& [node, score] : scores(Analysed(two).with({}))) {
      const std::string name = node.second.substr(0, node.second.find("#2"));
      after[{node.first, name}] += score;
    }
    REQUIRE(after.size() == before.size());
    for (const auto& [node, score] : after) {
      CHECK(score == Approx(before.at(node)).epsilon(0).margin(1e-10));
    }
  }
}

TEST_CASE("ranking: nothing to rank without a path") {
  profile::Trace trace;
  const DependencyGraph graph(trace);
  const RangeTree tree(trace);
  const Ranking ranking = rank(graph, tree, {}, {}, {});
  CHECK(ranking.nodes.empty());
  CHECK(ranking.iterations == 0);
}

}  // namespace gprofml::analysis
