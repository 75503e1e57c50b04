#include "libanalysis/hierarchy/op_paths.hpp"

#include <algorithm>

#include "libanalysis/hierarchy/function_ops.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::RowIndex;

namespace {

RowIndex graph_node_of(const DependencyGraph& graph, ActivityIndex i) {
  return graph.work.columns(graph.trace, i).graph_node[graph.work.row[i]];
}

// From the outermost range inwards, ending with `range`.
std::vector<RowIndex> ranges_down_to(const RangeTree& tree, RowIndex range) {
  std::vector<RowIndex> ranges;
  for (; range != kNoRow; range = tree.parent(range)) ranges.push_back(range);
  std::reverse(ranges.begin(), ranges.end());
  return ranges;
}

// The innermost range around both; kNoRow: none.
RowIndex around_both(const RangeTree& tree, RowIndex a, RowIndex b) {
  if (a == b) return a;
  const std::vector<RowIndex> x = ranges_down_to(tree, a), y = ranges_down_to(tree, b);
  RowIndex common = kNoRow;
  for (std::size_t k = 0; k < std::min(x.size(), y.size()) && x[k] == y[k]; ++k) common = x[k];
  return common;
}

}  // namespace

RowIndex origin_of(const DependencyGraph& graph, const RangeTree& tree, ActivityIndex i) {
  if (graph.work.linked(i)) {
    const RowIndex thread = graph.trace.api_calls.thread[graph.work.call[i]];
    const RowIndex range = tree.innermost(thread, graph.launch_start_ns(i));
    if (range != kNoRow) return range;
  }
  const RowIndex named = graph.work.columns(graph.trace, i).op[graph.work.row[i]];
  return named != kNoRow && tree.contains(named) ? named : kNoRow;
}

OpPaths::OpPaths(const DependencyGraph& graph, const RangeTree& tree) : graph_(graph), tree_(tree) {
  find_replayed();
  find_stacks();
}

void OpPaths::find_replayed() {
  const DependencyGraph& graph = graph_;
  const RangeTree& tree = tree_;
  const auto& nodes = graph.trace.graph_nodes;
  const bool any = std::any_of(nodes.begin(), nodes.end(),
                               [](const profile::GraphNode& node) { return node.op != kNoRow; });
  if (!any) return;
  for (std::uint32_t path = 0; path < tree.path_count(); ++path) {
    ids_.emplace(Name{tree.path_parent(path), tree.path_name(path)}, path);
  }
  find_whole_graphs();
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    const RowIndex node = graph_node_of(graph, i);
    if (captured_in(i) == kNoRow) continue;
    const RowIndex origin = origin_of(graph, tree, i);
    const std::uint32_t launch_path = origin == kNoRow ? kNone : tree.path_id(origin);
    const auto [known, is_new] = replayed_.try_emplace({node, launch_path}, kNone);
    if (is_new) known->second = replayed(nodes[node].op, launch_path, whole_graph_[node]);
  }
}

void OpPaths::find_stacks() {
  const profile::Trace& trace = graph_.trace;
  const profile::CallStackColumns& stacks = trace.call_stacks;
  if (stacks.size() == 0) return;
  frame_of_call_.assign(trace.api_calls.size(), kNoRow);
  frame_of_node_.assign(trace.graph_nodes.size(), kNoRow);
  for (RowIndex row = 0; row < stacks.size(); ++row) {
    if (stacks.call[row] != kNoRow) frame_of_call_[stacks.call[row]] = stacks.frame[row];
    if (stacks.graph_node[row] != kNoRow)
      frame_of_node_[stacks.graph_node[row]] = stacks.frame[row];
  }
  for (ActivityIndex i = 0; i < graph_.work.size(); ++i) {
    const RowIndex frame = frame_of(i);
    if (frame == kNoRow || captured_in(i) != kNoRow || origin_of(graph_, tree_, i) != kNoRow) {
      continue;
    }
    const profile::StringId kernel = graph_.work.columns(trace, i).name[graph_.work.row[i]];
    const auto [known, is_new] = spelled_.try_emplace({frame, kernel}, kNone);
    if (is_new) known->second = spell(frame, kernel);
  }
}

RowIndex OpPaths::frame_of(ActivityIndex i) const {
  const RowIndex node = graph_node_of(graph_, i);
  if (node != kNoRow && frame_of_node_[node] != kNoRow) return frame_of_node_[node];
  return graph_.work.linked(i) ? frame_of_call_[graph_.work.call[i]] : kNoRow;
}

std::uint32_t OpPaths::spell(RowIndex frame, profile::StringId kernel) {
  std::uint32_t path = kNone;
  for (std::string& name : op_names(graph_.trace, frame, graph_.trace.text(kernel))) {
    const auto next =
        static_cast<profile::StringId>(graph_.trace.strings.size() + functions_.size());
    const auto [known, is_new] = function_ids_.try_emplace(name, next);
    if (is_new) functions_.push_back(std::move(name));
    path = child(path, known->second);
  }
  return path;
}

std::uint32_t OpPaths::spelled(ActivityIndex i) const {
  if (spelled_.empty() || captured_in(i) != kNoRow) return kNone;
  const RowIndex frame = frame_of(i);
  if (frame == kNoRow) return kNone;
  const auto found =
      spelled_.find({frame, graph_.work.columns(graph_.trace, i).name[graph_.work.row[i]]});
  return found == spelled_.end() ? kNone : found->second;
}

bool OpPaths::from_functions(std::uint32_t path) const {
  while (path != kNone && parent(path) != kNone) path = parent(path);
  return path != kNone && path >= tree_.path_count();
}

std::string_view OpPaths::name_text(profile::StringId name) const {
  const std::size_t of_trace = graph_.trace.strings.size();
  return name < of_trace ? graph_.trace.text(name) : functions_[name - of_trace];
}

RowIndex OpPaths::captured_in(ActivityIndex i) const {
  const RowIndex node = graph_node_of(graph_, i);
  if (node == kNoRow) return kNoRow;
  const RowIndex op = graph_.trace.graph_nodes[node].op;
  return op != kNoRow && tree_.contains(op) ? op : kNoRow;
}

// Of each graph the innermost range around all nodes whose capture is known; where that is the very
// range of each of them, the one around it.
void OpPaths::find_whole_graphs() {
  struct Graph {
    RowIndex around;
    RowIndex only;  // the one range of all nodes, or kNoRow
  };
  const auto& nodes = graph_.trace.graph_nodes;
  std::map<std::pair<RowIndex, std::int64_t>, Graph> graphs;
  for (const profile::GraphNode& node : nodes) {
    if (node.op == kNoRow || !tree_.contains(node.op)) continue;
    const auto [known, is_new] =
        graphs.try_emplace({node.process, node.graph_id}, Graph{node.op, node.op});
    if (is_new) continue;
    known->second.around = around_both(tree_, known->second.around, node.op);
    if (known->second.only != node.op) known->second.only = kNoRow;
  }
  whole_graph_.assign(nodes.size(), kNoRow);
  for (std::size_t row = 0; row < nodes.size(); ++row) {
    const auto graph = graphs.find({nodes[row].process, nodes[row].graph_id});
    if (graph == graphs.end()) continue;
    const auto& [around, only] = graph->second;
    whole_graph_[row] = only == kNoRow ? around : tree_.parent(only);
  }
}

std::uint32_t OpPaths::replayed(RowIndex capture, std::uint32_t launch_path, RowIndex whole_graph) {
  const std::uint32_t capture_path = tree_.path_id(capture);
  if (launch_path == kNone) return capture_path;
  for (std::uint32_t above = capture_path; above != kNone; above = tree_.path_parent(above)) {
    if (above == launch_path) return capture_path;
  }
  std::vector<RowIndex> inside;
  for (RowIndex r = capture; r != kNoRow && r != whole_graph; r = tree_.parent(r)) {
    inside.push_back(r);
  }
  std::uint32_t path = launch_path;
  for (auto r = inside.rbegin(); r != inside.rend(); ++r) {
    path = child(path, graph_.trace.ranges.name[*r]);
  }
  return path;
}

std::uint32_t OpPaths::child(std::uint32_t parent, profile::StringId name) {
  const auto [known, is_new] = ids_.try_emplace({parent, name}, count());
  if (is_new) added_.push_back({parent, name});
  return known->second;
}

std::uint32_t OpPaths::of(ActivityIndex i) const {
  const RowIndex origin = origin_of(graph_, tree_, i);
  const std::uint32_t path = origin == kNoRow ? kNone : tree_.path_id(origin);
  if (path == kNone && !spelled_.empty()) {
    const std::uint32_t by_functions = spelled(i);
    if (by_functions != kNone) return by_functions;
  }
  if (replayed_.empty()) return path;
  const auto found = replayed_.find({graph_node_of(graph_, i), path});
  return found == replayed_.end() ? path : found->second;
}

std::uint32_t OpPaths::parent(std::uint32_t path) const {
  return path < tree_.path_count() ? tree_.path_parent(path)
                                   : added_[path - tree_.path_count()].first;
}

std::string OpPaths::text(std::uint32_t path) const {
  if (path < tree_.path_count()) return tree_.path_text(path);
  const auto& [above, name] = added_[path - tree_.path_count()];
  const std::string part = RangeTree::path_part(name_text(name));
  return above == kNone ? part : text(above) + '/' + part;
}

}  // namespace gprofml::analysis
