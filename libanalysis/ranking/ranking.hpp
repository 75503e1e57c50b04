// PageRank over the op-to-hardware-event graph beside the exact critical-path shares.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::analysis {

enum class RankKind : std::uint8_t { op, carrier, cause };

std::string_view name_of(RankKind kind);

/// A node of the op-to-hardware-event graph. Both figures are shares within its kind.
struct RankedNode {
  RankKind kind = RankKind::op;
  std::string name;
  double score = 0.0;       ///< PageRank, as a share within the kind
  double path_share = 0.0;  ///< exact share of the critical path's nanoseconds
};

struct Ranking {
  int iterations = 0;
  double residual = 0.0;          ///< L1 distance of the last two iterates
  std::vector<RankedNode> nodes;  ///< by kind, then score descending, then name
};

}  // namespace gprofml::analysis
