#include "libanalysis/quality/plausible_times.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>
#include <vector>

namespace gprofml::analysis {

using profile::Nanoseconds;

namespace {

constexpr Nanoseconds kFurthest = Nanoseconds{1} << 61;

// Adds up one table's durations. Both terms stay below 2^62, so the sum cannot overflow.
void add_durations(std::string_view table, const std::vector<Nanoseconds>& starts,
                   const std::vector<Nanoseconds>& ends, Nanoseconds& total) {
  for (std::size_t row = 0; row < starts.size(); ++row) {
    const bool near = -kFurthest < starts[row] && ends[row] < kFurthest;
    if (near) total += ends[row] - starts[row];
    if (near && total < kFurthest) continue;
    throw std::invalid_argument(fmt::format(
        "{} row {} lasts from {} to {} ns: {}; such a trace is damaged, record it again", table,
        row, starts[row], ends[row],
        near ? "with it all durations add up to more than 73 years"
             : "more than 73 years from the zero of time"));
  }
}

}  // namespace

void require_plausible_times(const profile::Trace& trace) {
  Nanoseconds total = 0;
  add_durations("kernel", trace.kernels.start_ns, trace.kernels.end_ns, total);
  add_durations("copy", trace.copies.start_ns, trace.copies.end_ns, total);
  add_durations("fill", trace.fills.start_ns, trace.fills.end_ns, total);
  add_durations("graph_launch", trace.graph_launches.start_ns, trace.graph_launches.end_ns, total);
  total = 0;  // sums never mix GPU work with calls, or calls with ranges
  add_durations("api_call", trace.api_calls.start_ns, trace.api_calls.end_ns, total);
  total = 0;
  add_durations("range", trace.ranges.start_ns, trace.ranges.end_ns, total);
  total = 0;
  add_durations("sync", trace.syncs.start_ns, trace.syncs.end_ns, total);
}

}  // namespace gprofml::analysis
