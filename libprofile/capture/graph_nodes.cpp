#include "libprofile/capture/graph_nodes.hpp"

#include <algorithm>
#include <string_view>

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

std::uint64_t GraphNodes::first_node_of(RowIndex row) const {
  const Birth* birth = first_of_copies(node_of_row_[row]);
  return birth == nullptr ? 0 : node_of_row_[birth->row];
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

GraphNodes::CopiedGraphs GraphNodes::copied_graphs() const {
  CopiedGraphs copied;
  for (const auto& [node, birth] : births_) {
    if (birth.original == 0) continue;
    CopiedGraph& graph = copied[trace_.graph_nodes[birth.row].graph_id];
    graph.first_ns = std::min(graph.first_ns, birth.moment.time_ns);
    graph.copy_of[birth.original] = node;
    const RowIndex call = trace_.graph_nodes[birth.row].call;
    const Nanoseconds end_ns = call == kNoRow ? EdgeHistory::kEnd : trace_.api_calls.end_ns[call];
    graph.end_ns = std::max(graph.end_ns, end_ns);
  }
  return copied;
}

void GraphNodes::find_edges() {
  if (edges_.empty()) return;
  const CopiedGraphs copied = copied_graphs();
  carry_edges(copied);
  // A graph that was copied is shown as it was then; later changes were for the next copy.
  std::map<std::int64_t, Nanoseconds> last_copied_ns;
  for (const auto& [graph, copy] : copied) {
    for (const auto& [original, node] : copy.copy_of) {
      const auto birth = births_.find(original);
      if (birth == births_.end()) continue;
      Nanoseconds& last_ns = last_copied_ns[trace_.graph_nodes[birth->second.row].graph_id];
      last_ns = std::max(last_ns, copy.first_ns);
    }
  }
  edges_.for_each([&](std::uint64_t source, std::uint64_t target, const auto& changes) {
    const auto from = births_.find(source);
    const auto to = births_.find(target);
    if (from == births_.end() || to == births_.end()) return;
    const std::int64_t graph = trace_.graph_nodes[from->second.row].graph_id;
    const auto last_copy = last_copied_ns.find(graph);
    // What is executable keeps its edges: what is told of its end is its end.
    const bool exists =
        last_copy != last_copied_ns.end()
            ? EdgeHistory::existed(changes, last_copy->second)
            : from->second.original != 0 || EdgeHistory::existed(changes, EdgeHistory::kEnd);
    if (exists) trace_.graph_edges.push_back({from->second.row, to->second.row});
  });
}

// Kernels name nodes of the executable graph, so an analysis needs the edges there; whether CUPTI
// tells them once more for a copy is documented nowhere.
void GraphNodes::carry_edges(const CopiedGraphs& copied) {
  std::set<std::int64_t> told;
  edges_.for_each([&](std::uint64_t source, std::uint64_t, const auto& changes) {
    const auto from = births_.find(source);
    if (from == births_.end()) return;
    const std::int64_t graph = trace_.graph_nodes[from->second.row].graph_id;
    const auto copy = copied.find(graph);
    if (copy != copied.end() && changes.front().time_ns <= copy->second.end_ns) told.insert(graph);
  });
  // A copy may be copied again: the earlier graph first.
  std::vector<const CopiedGraph*> in_order;
  for (const auto& [graph, copy] : copied) {
    if (told.count(graph) == 0) in_order.push_back(&copy);
  }
  std::stable_sort(
      in_order.begin(), in_order.end(),
      [](const CopiedGraph* a, const CopiedGraph* b) { return a->first_ns < b->first_ns; });
  for (const CopiedGraph* graph : in_order) {
    for (const auto& [original, copy] : graph->copy_of) {
      for (const std::uint64_t target : edges_.targets_of(original, graph->first_ns)) {
        const auto found = graph->copy_of.find(target);
        if (found != graph->copy_of.end())
          edges_.add(copy, found->second, {graph->first_ns, false});
      }
    }
  }
}

std::int64_t GraphNodes::conditional_nodes() const {
  constexpr std::string_view kConditional = "conditional";
  return std::count_if(births_.begin(), births_.end(), [&](const auto& known) {
    const Birth& birth = known.second;
    return birth.original == 0 && trace_.text(trace_.graph_nodes[birth.row].type) == kConditional;
  });
}

std::int64_t GraphNodes::unknown_nodes() const {
  return std::count_if(node_of_row_.begin(), node_of_row_.end(),
                       [this](std::uint64_t node) { return births_.count(node) == 0; });
}

void GraphNodes::finish() {
  if (node_of_row_.empty()) return;
  find_ops();
  find_calls();
  find_edges();
}

}  // namespace gprofml::profile
