// PageRank of a weighted directed graph.
#pragma once

#include <cstdint>
#include <vector>

namespace gprofml::analysis {

/// Where a walker at `from` goes next with probability weight / (sum of the weights leaving from).
struct WeightedEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  double weight = 0.0;  ///< >= 0, any unit
};

struct PageRankOptions {
  double damping = 0.85;     ///< probability of following an edge instead of teleporting
  double tolerance = 1e-12;  ///< stop when two iterates differ by less, in L1
  int max_iterations = 1000;
};

struct PageRank {
  std::vector<double> scores;  ///< by node, sum 1
  int iterations = 0;
  double residual = 0.0;  ///< L1 distance of the last two iterates
};

/// The stationary distribution of a walker who follows edges and from time to time, and always
/// where no weight leaves, jumps to a node drawn from `teleport` (one weight >= 0 a node, not all
/// zero; normalised here). Power iteration that starts from the teleport distribution. Edges that
/// occur twice add up; the result does not depend on the order of `edges`, to the bit.
/// Throws std::invalid_argument when the input breaks these rules.
///
/// Page, Brin, Motwani, Winograd: "The PageRank Citation Ranking: Bringing Order to the Web", 1999;
/// with its personalised vector E in both roles, source of rank and target of dangling nodes.
PageRank page_rank(std::vector<WeightedEdge> edges, const std::vector<double>& teleport,
                   const PageRankOptions& options = {});

}  // namespace gprofml::analysis
