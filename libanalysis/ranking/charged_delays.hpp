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

/// The delays of the window's events whose slack is at most 1 % of a step (of the window where no
/// steps were found).
///
/// GPU work is charged to its last arriver: with the time between the last two arrivals, and never
/// with more than the arriver's own duration, which is also the charge where nothing else arrived.
/// The limit is ours, definitions.md has it only for a single arrival: nobody accounts for more
/// time than it takes. Without it the charge in a deep queue is the depth of the queue, whoever is
/// before. ../shared/traces/tracelens/inf__vllm_decode_full_graph_execution shows it: the charges
/// in its window of 19 ms sum to 5.2 s instead of 10 ms, and a memset with 0.6 % of the path ranks
/// fourth of all carriers with 7.7 %.
///
/// A blocking call is charged to the awaited work that ended last, with the time of the call until
/// then.
std::vector<ChargedDelay> charged_delays(const DependencyGraph& graph, const Window& window,
                                         const Steps& steps);

}  // namespace gprofml::analysis
