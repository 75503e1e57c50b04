// PageRank against closed forms and against a dense solution of the same linear system.
#include <Eigen/Dense>
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "libanalysis/ranking/pagerank.hpp"
#include "test/seeds.hpp"
#include "test/synth/random.hpp"

namespace gprofml::analysis {
namespace {

struct RandomGraph {
  std::vector<WeightedEdge> edges;
  std::vector<double> teleport;
};

// Sparse, with doubled edges, loops, weightless edges, dangling nodes and nodes without teleport.
RandomGraph random_graph(std::uint64_t seed) {
  synth::Random random(seed);
  RandomGraph graph;
  const std::int64_t nodes = random.between(1, 40);
  for (std::int64_t i = 0; i < nodes; ++i) {
    graph.teleport.push_back(random.chance(60) ? static_cast<double>(random.between(1, 1000)) : 0);
  }
  graph.teleport[0] += 1.0;
  for (std::int64_t k = random.between(0, 3 * nodes); k > 0; --k) {
    const auto from = static_cast<std::uint32_t>(random.between(0, nodes - 1));
    const auto to = static_cast<std::uint32_t>(random.between(0, nodes - 1));
    graph.edges.push_back({from, to, static_cast<double>(random.between(0, 1'000'000))});
  }
  return graph;
}

// (I - d P^T) x = (1 - d) v, where a row of P without weight is v.
Eigen::VectorXd dense_solution(const RandomGraph& graph, double damping) {
  const auto n = static_cast<Eigen::Index>(graph.teleport.size());
  Eigen::VectorXd v = Eigen::Map<const Eigen::VectorXd>(graph.teleport.data(), n) /
                      std::accumulate(graph.teleport.begin(), graph.teleport.end(), 0.0);
  Eigen::MatrixXd p = Eigen::MatrixXd::Zero(n, n);
  for (const WeightedEdge& e : graph.edges) p(e.from, e.to) += e.weight;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double sum = p.row(i).sum();
    if (sum > 0) {
      p.row(i) /= sum;
    } else {
      p.row(i) = v.transpose();
    }
  }
  const Eigen::MatrixXd system = Eigen::MatrixXd::Identity(n, n) - damping * p.transpose();
  return system.partialPivLu().solve((1 - damping) * v);
}

double largest_difference(const std::vector<double>& scores, const Eigen::VectorXd& exact) {
  return (Eigen::Map<const Eigen::VectorXd>(scores.data(), exact.size()) - exact)
      .cwiseAbs()
      .maxCoeff();
}

}  // namespace

TEST_CASE("PageRank: two nodes that only know each other") {
  const PageRank even = page_rank({{0, 1, 3}, {1, 0, 8}}, {1, 1});
  CHECK(even.scores[0] == Approx(0.5).margin(1e-12));
  // x0 = 0.15 + 0.85 x1 and x1 = 0.85 x0
  const PageRank one = page_rank({{0, 1, 3}, {1, 0, 8}}, {7, 0});
  CHECK(one.scores[0] == Approx(1 / 1.85).margin(1e-11));
  CHECK(one.scores[1] == Approx(0.85 / 1.85).margin(1e-11));
}

TEST_CASE("PageRank: the hub of a star") {
  const int leaves = GENERATE(1, 2, 5, 100);
  std::vector<WeightedEdge> edges;
  for (std::uint32_t leaf = 1; leaf <= static_cast<std::uint32_t>(leaves); ++leaf) {
    edges.push_back({leaf, 0, 2});
    edges.push_back({0, leaf, 1});
  }
  const PageRank star =
      page_rank(edges, std::vector<double>(static_cast<std::size_t>(leaves) + 1, 1));
  // h = 0.15 / n + 0.85 (1 - h)
  const double hub = (0.15 / (leaves + 1) + 0.85) / 1.85;
  CHECK(star.scores[0] == Approx(hub).margin(1e-11));
  CHECK(star.scores[1] == Approx((1 - hub) / leaves).margin(1e-11));
}

TEST_CASE("PageRank: a cycle entered at one node decays by the damping at each hop") {
  const std::uint32_t n = 6;
  std::vector<WeightedEdge> edges;
  for (std::uint32_t i = 0; i < n; ++i) edges.push_back({i, (i + 1) % n, 5});
  std::vector<double> teleport(n, 0);
  teleport[0] = 1;
  const PageRank cycle = page_rank(edges, teleport);
  // x0 = 0.15 / (1 - 0.85^n), x_k = 0.85^k x0
  for (std::uint32_t k = 0; k < n; ++k) {
    CHECK(cycle.scores[k] ==
          Approx(0.15 * std::pow(0.85, k) / (1 - std::pow(0.85, n))).margin(1e-11));
  }
}

TEST_CASE("PageRank: what reaches a dangling node starts anew at the teleport") {
  // x0 = t0 (0.15 + 0.85 x2), x1 = t1 (0.15 + 0.85 x2), x2 = 0.85 (x0 + x1): x2 = 0.85 / 1.85
  const PageRank rank = page_rank({{0, 2, 1}, {1, 2, 9}}, {3, 1, 0});
  CHECK(rank.scores[2] == Approx(0.85 / 1.85).margin(1e-11));
  CHECK(rank.scores[0] == Approx(0.75 / 1.85).margin(1e-11));
  CHECK(rank.scores[1] == Approx(0.25 / 1.85).margin(1e-11));
}

TEST_CASE("PageRank: weights divide a node's score") {
  const PageRank rank = page_rank({{0, 1, 1}, {0, 2, 3}}, {1, 0, 0});
  CHECK(rank.scores[2] == Approx(3 * rank.scores[1]).margin(1e-12));
  const PageRank doubled = page_rank({{0, 1, 1}, {0, 2, 1}, {0, 2, 2}}, {1, 0, 0});
  CHECK(doubled.scores == rank.scores);
}

TEST_CASE("PageRank: equals the dense solution on random graphs") {
  for (int seed = 0; seed < test::seed_count(200); ++seed) {
    INFO("seed " << seed);
    const RandomGraph graph = random_graph(static_cast<std::uint64_t>(seed));
    const PageRank rank = page_rank(graph.edges, graph.teleport);
    CHECK(rank.residual < 1e-12);
    CHECK(largest_difference(rank.scores, dense_solution(graph, 0.85)) < 1e-10);
    CHECK(std::accumulate(rank.scores.begin(), rank.scores.end(), 0.0) ==
          Approx(1.0).margin(1e-12));
  }
}

TEST_CASE("PageRank: the order of the edges changes no bit") {
  for (int seed = 0; seed < test::seed_count(100); ++seed) {
    RandomGraph graph = random_graph(static_cast<std::uint64_t>(seed));
    const PageRank before = page_rank(graph.edges, graph.teleport);
    synth::Random(99).shuffle(graph.edges);
    const PageRank after = page_rank(graph.edges, graph.teleport);
    CHECK(before.scores == after.scores);
    CHECK(before.residual == after.residual);
    CHECK(before.iterations == after.iterations);
  }
}

TEST_CASE("PageRank: stops at the iteration limit and says how far it got") {
  PageRankOptions options;
  options.max_iterations = 3;
  const PageRank rank = page_rank({{0, 1, 1}, {1, 0, 1}}, {1, 0}, options);
  CHECK(rank.iterations == 3);
  CHECK(rank.residual == Approx(2 * std::pow(0.85, 3)).margin(1e-12));
}

TEST_CASE("PageRank: refuses what is no graph") {
  CHECK_THROWS_AS(page_rank({}, {}), std::invalid_argument);
  CHECK_THROWS_AS(page_rank({}, {0, 0}), std::invalid_argument);
  CHECK_THROWS_AS(page_rank({}, {1, -1}), std::invalid_argument);
  CHECK_THROWS_AS(page_rank({{0, 2, 1}}, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(page_rank({{0, 1, -1}}, {1, 1}), std::invalid_argument);
  CHECK_THROWS_AS(page_rank({{0, 1, std::numeric_limits<double>::infinity()}}, {1, 1}),
                  std::invalid_argument);
}

}  // namespace gprofml::analysis
