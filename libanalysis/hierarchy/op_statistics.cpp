#include "libanalysis/hierarchy/op_statistics.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "libanalysis/hierarchy/kernel_family.hpp"
#include "libanalysis/hierarchy/op_paths.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

bool inside(Nanoseconds t, const Window& window) {
  return window.is_whole() || (window.from_ns <= t && t < window.to_ns);
}

// Ops that a replay runs without their ranges being open: once a launch.
class ReplayedOps {
 public:
  void count(const DependencyGraph& graph, const OpPaths& paths, ActivityIndex i,
             std::uint32_t launched_in, std::vector<OpStatistics>& by_path) {
    for (std::uint32_t p = paths.of(i); p != OpPaths::kNone && p != launched_in;
         p = paths.parent(p)) {
      if (counted_.emplace(graph.work.call[i], p).second) ++by_path[p].count;
    }
  }

 private:
  std::set<std::pair<RowIndex, std::uint32_t>> counted_;  // by launch and path
};

std::vector<OpStatistics> named_table(const OpPaths& paths, std::vector<OpStatistics>& by_path) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t id = 0; id < by_path.size(); ++id) {
    if (by_path[id].count > 0) order.push_back(id);
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(-by_path[a].device_ns, a) < std::tuple(-by_path[b].device_ns, b);
  });
  std::vector<OpStatistics> table;
  std::size_t bytes = 0;
  for (const std::uint32_t id : order) {
    OpStatistics& op = by_path[id];
    op.path = paths.text(id);
    if (paths.from_functions(id)) {
      op.source = OpSource::call_stack;
      op.host_ns = profile::kUnknown;
    }
    bytes += op.path.size();
    if (bytes > kMostPathBytes) break;
    table.push_back(std::move(op));
  }
  return table;
}

/// Where nothing has a name: by what kind of work it is.
std::vector<OpStatistics> by_kernel_family(const DependencyGraph& graph, const Window& window) {
  std::map<std::string, OpStatistics> families;
  std::set<std::pair<std::string_view, RowIndex>> counted;  // by family and launch
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!inside(graph.work.start_ns[i], window)) continue;
    const std::string family =
        RangeTree::path_part(kernel_family(graph.work.kind[i], graph.work.name(graph.trace, i)));
    const auto at = families.try_emplace(family).first;
    OpStatistics& op = at->second;
    const bool is_first =
        !graph.work.linked(i) || counted.emplace(at->first, graph.work.call[i]).second;
    if (is_first) ++op.count;
    op.device_ns += graph.work.end_ns[i] - graph.work.start_ns[i];
    ++op.kernels;
  }
  std::vector<OpStatistics> table;
  for (auto& [name, op] : families) {
    op.path = name;
    op.source = OpSource::kernel_family;
    op.host_ns = profile::kUnknown;
    table.push_back(std::move(op));
  }
  std::stable_sort(table.begin(), table.end(), [](const OpStatistics& a, const OpStatistics& b) {
    return a.device_ns > b.device_ns;
  });
  return table;
}

}  // namespace

std::vector<OpStatistics> op_statistics(const DependencyGraph& graph, const RangeTree& tree,
                                        const Window& window) {
  const OpPaths paths(graph, tree);
  std::vector<OpStatistics> by_path(paths.count());
  const profile::RangeColumns& ranges = graph.trace.ranges;
  std::vector<bool> counted(ranges.size(), false);
  const auto count = [&](RowIndex r) {
    if (counted[r]) return;
    counted[r] = true;
    OpStatistics& op = by_path[tree.path_id(r)];
    ++op.count;
    op.host_ns += ranges.end_ns[r] - ranges.start_ns[r];
  };
  for (RowIndex r = 0; r < ranges.size(); ++r) {
    if (tree.contains(r) && inside(ranges.start_ns[r], window)) count(r);
  }
  ReplayedOps replayed;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!inside(graph.work.start_ns[i], window)) continue;
    const RowIndex origin = origin_of(graph, tree, i);
    for (RowIndex r = origin; r != kNoRow; r = tree.parent(r)) count(r);
    const std::uint32_t path = paths.of(i);
    const std::uint32_t launched_in = origin == kNoRow ? OpPaths::kNone : tree.path_id(origin);
    if (path != launched_in) replayed.count(graph, paths, i, launched_in, by_path);
    const Nanoseconds duration = graph.work.end_ns[i] - graph.work.start_ns[i];
    for (std::uint32_t p = path; p != OpPaths::kNone; p = paths.parent(p)) {
      by_path[p].device_ns += duration;
      ++by_path[p].kernels;
    }
  }
  std::vector<OpStatistics> table = named_table(paths, by_path);
  return table.empty() && graph.trace.ranges.size() == 0 ? by_kernel_family(graph, window) : table;
}

}  // namespace gprofml::analysis
