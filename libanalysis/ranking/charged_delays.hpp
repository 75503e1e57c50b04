// Which events near the critical path waited for which others, and for how long.
#pragma once

#include <cstdint>
#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// GPU work or an API call.
struct Instance {
  bool is_call = false;
  std::uint32_t row = 0;  ///< Activities index, or api_calls row
};

/// `delayed` waited `ns` for `by` alone.
struct ChargedDelay {
  Instance delayed;
  Instance by;
  profile::Nanoseconds ns = 0;  ///< > 0
};

}  // namespace gprofml::analysis
