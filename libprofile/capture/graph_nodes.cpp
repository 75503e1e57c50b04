#include "libprofile/capture/graph_nodes.hpp"

#include <algorithm>
#include <limits>

#include "libprofile/capture/translate_cupti.hpp"

namespace gprofml::profile {

RowIndex GraphNodes::row(std::uint32_t graph, std::uint64_t node) {
  const auto [found, is_new] =
      rows_.try_emplace({graph, node}, static_cast<RowIndex>(trace_.graph_nodes.size()));
  if (is_new) {
    GraphNode& added = trace_.graph_nodes.emplace_back();
    added.process = 0;
    added.graph_id = graph;
    added.node_id = static_cast<std::int64_t>(node);
    node_of_row_.push_back(node);
  }
  return found->second;
}

void GraphNodes::made(const spool::GraphNode& record, RowIndex thread) {
  const RowIndex at = row(record.graph, record.node);
  trace_.graph_nodes[at].type = trace_.intern(graph_node_type_name(record.type));
  const Birth birth{record.original_node, {thread, record.time_ns}, at};
  const auto [known, is_new] = births_.try_emplace(record.node, birth);
  // Told twice: the earlier stands, whichever was written first.
  if (!is_new && record.time_ns < known->second.moment.time_ns) known->second = birth;
}

/// The node that was captured or made by hand; nullptr: not recorded.
const GraphNodes::Birth* GraphNodes::first_of_copies(std::uint64_t node) const {
  constexpr int kMostCopies = 64;  // a file may say that a node is a copy of itself
  for (int copies = 0; copies < kMostCopies; ++copies) {
    const auto found = births_.find(node);
    if (found == births_.end()) return nullptr;
    if (found->second.original == 0) return &found->second;
    node = found->second.original;
  }
  return nullptr;
}

void GraphNodes::find_ops() {
  std::vector<ThreadMoment> moments(node_of_row_.size());
  for (std::size_t row = 0; row < moments.size(); ++row) {
    if (const Birth* birth = first_of_copies(node_of_row_[row])) {
      moments[row] = birth->moment;
      GraphNode& node = trace_.graph_nodes[row];
      if (node.type == 0) node.type = trace_.graph_nodes[birth->row].type;
    }
  }
  const RangeColumns& ranges = trace_.ranges;
  const auto of_kind = [&](RangeKind kind) {
    return innermost_at(ranges, moments, false, [&](RowIndex r) {
      return ranges.kind[r] == kind && ranges.end_ns[r] > ranges.start_ns[r];
    });
  };
  // Start/end ranges may cross threads and need not nest: only where there is nothing better.
  const std::vector<RowIndex> pushed = of_kind(RangeKind::push_pop);
  const std::vector<RowIndex> started = of_kind(RangeKind::start_end);
  for (std::size_t row = 0; row < moments.size(); ++row) {
    trace_.graph_nodes[row].op = pushed[row] != kNoRow ? pushed[row] : started[row];
  }
}

void GraphNodes::find_calls() {
  std::vector<ThreadMoment> moments;
  std::vector<RowIndex> rows;
  for (const auto& [node, birth] : births_) {
    moments.push_back(birth.moment);
    rows.push_back(birth.row);
  }
  const std::vector<RowIndex> calls =
      innermost_at(trace_.api_calls, moments, true, [](RowIndex) { return true; });
  for (std::size_t i = 0; i < rows.size(); ++i) trace_.graph_nodes[rows[i]].call = calls[i];
}

void GraphNodes::find_edges() {
  TargetsOf targets;
  std::set<std::int64_t> told;
  for (const auto& [source, target] : edges_) {
    const auto from = births_.find(source);
    const auto to = births_.find(target);
    if (from == births_.end() || to == births_.end()) continue;
    trace_.graph_edges.push_back({from->second.row, to->second.row});
    targets[source].push_back(target);
    told.insert(trace_.graph_nodes[to->second.row].graph_id);
  }
  carry_edges(std::move(targets), told);
}

// Kernels name nodes of the executable graph, so an analysis needs the edges there; whether CUPTI
// tells them once more for a copy is documented nowhere.
void GraphNodes::carry_edges(TargetsOf targets, const std::set<std::int64_t>& told) {
  struct Copied {
    Nanoseconds first_ns = std::numeric_limits<Nanoseconds>::max();
    std::unordered_map<std::uint64_t, std::uint64_t> copy_of;  // by original
  };
  std::map<std::int64_t, Copied> by_graph;
  for (const auto& [node, birth] : births_) {
    const std::int64_t graph = trace_.graph_nodes[birth.row].graph_id;
    if (birth.original == 0 || told.count(graph) != 0) continue;
    Copied& copied = by_graph[graph];
    copied.first_ns = std::min(copied.first_ns, birth.moment.time_ns);
    copied.copy_of[birth.original] = node;
  }
  // A copy may be copied again: the earlier graph first.
  std::vector<const Copied*> in_order;
  for (const auto& [graph, copied] : by_graph) in_order.push_back(&copied);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const Copied* a, const Copied* b) { return a->first_ns < b->first_ns; });
  for (const Copied* copied : in_order) {
    for (const auto& [original, copy] : copied->copy_of) {
      const std::vector<std::uint64_t> originals = targets[original];
      for (const std::uint64_t target : originals) {
        const auto found = copied->copy_of.find(target);
        if (found == copied->copy_of.end()) continue;
        trace_.graph_edges.push_back({births_.at(copy).row, births_.at(found->second).row});
        targets[copy].push_back(found->second);
      }
    }
  }
}

void GraphNodes::finish() {
  if (node_of_row_.empty()) return;
  find_ops();
  find_calls();
  find_edges();
}

}  // namespace gprofml::profile
