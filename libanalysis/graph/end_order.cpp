#include "libanalysis/graph/end_order.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

EndOrder::EndOrder(const Activities& work, const std::vector<RowIndex>& group_of,
                   std::size_t groups)
    : work_(work), first_(groups + 1, 0) {
  for (const RowIndex g : group_of) {
    if (g != kNoRow) ++first_[g + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  order_.resize(first_.back());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (ActivityIndex i = 0; i < group_of.size(); ++i) {
    if (group_of[i] != kNoRow) order_[next[group_of[i]]++] = i;
  }
  for (std::size_t g = 0; g < groups; ++g) {
    std::sort(order_.begin() + first_[g], order_.begin() + first_[g + 1],
              [&](ActivityIndex a, ActivityIndex b) {
                return std::tie(work_.corrected_end_ns[a], a) <
                       std::tie(work_.corrected_end_ns[b], b);
              });
  }
}

std::uint32_t EndOrder::upper_bound(RowIndex group, Nanoseconds t_ns) const {
  const auto begin = order_.begin() + first_[group];
  const auto end = order_.begin() + first_[group + 1];
  const auto after = std::upper_bound(begin, end, t_ns, [&](Nanoseconds t, ActivityIndex i) {
    return t < work_.corrected_end_ns[i];
  });
  return static_cast<std::uint32_t>(after - order_.begin());
}

}  // namespace gprofml::analysis
