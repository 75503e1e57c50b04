#include "libanalysis/ranking/pagerank.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace gprofml::analysis {
namespace {

std::vector<double> normalised(const std::vector<double>& weights) {
  double sum = 0.0;
  for (const double w : weights) {
    if (!(w >= 0.0) || !std::isfinite(w)) {
      throw std::invalid_argument("PageRank: a teleport weight is negative or not finite");
    }
    sum += w;
  }
  if (!(sum > 0.0)) throw std::invalid_argument("PageRank: all teleport weights are zero");
  std::vector<double> shares(weights);
  for (double& w : shares) w /= sum;
  return shares;
}

void check(const std::vector<WeightedEdge>& edges, std::size_t nodes) {
  for (const WeightedEdge& e : edges) {
    if (e.from >= nodes || e.to >= nodes) {
      throw std::invalid_argument("PageRank: an edge refers to a node that does not exist");
    }
    if (!(e.weight >= 0.0) || !std::isfinite(e.weight)) {
      throw std::invalid_argument("PageRank: an edge weight is negative or not finite");
    }
  }
}

// Weights become probabilities. All sums run in one order, whatever the order of the input: by
// source for the row sums, by target for the iteration. Returns which rows have no weight.
std::vector<bool> make_stochastic(std::vector<WeightedEdge>& edges, std::size_t nodes) {
  std::vector<double> row_sum(nodes, 0.0);
  std::sort(edges.begin(), edges.end(), [](const WeightedEdge& a, const WeightedEdge& b) {
    return std::tie(a.to, a.from, a.weight) < std::tie(b.to, b.from, b.weight);
  });
  for (const WeightedEdge& e : edges) row_sum[e.from] += e.weight;
  std::vector<bool> dangling(nodes);
  for (std::size_t i = 0; i < nodes; ++i) dangling[i] = !(row_sum[i] > 0.0);
  for (WeightedEdge& e : edges) {
    if (!dangling[e.from]) e.weight /= row_sum[e.from];
  }
  return dangling;
}

}  // namespace

PageRank page_rank(std::vector<WeightedEdge> edges, const std::vector<double>& teleport,
                   const PageRankOptions& options) {
  const std::size_t nodes = teleport.size();
  const std::vector<double> jump = normalised(teleport);
  check(edges, nodes);
  const std::vector<bool> dangling = make_stochastic(edges, nodes);

  PageRank result;
  result.scores = jump;
  std::vector<double> next(nodes);
  do {
    double stuck = 0.0;
    for (std::size_t i = 0; i < nodes; ++i) {
      if (dangling[i]) stuck += result.scores[i];
    }
    std::fill(next.begin(), next.end(), 0.0);
    for (const WeightedEdge& e : edges) next[e.to] += result.scores[e.from] * e.weight;
    result.residual = 0.0;
    for (std::size_t i = 0; i < nodes; ++i) {
      next[i] = (1.0 - options.damping) * jump[i] + options.damping * (next[i] + stuck * jump[i]);
      result.residual += std::abs(next[i] - result.scores[i]);
    }
    std::swap(result.scores, next);
    ++result.iterations;
  } while (result.residual >= options.tolerance && result.iterations < options.max_iterations);
  return result;
}

}  // namespace gprofml::analysis
