#include "libanalysis/ranking/op_cause_graph.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "libanalysis/graph/call_traits.hpp"
#include "libanalysis/hierarchy/op_paths.hpp"
#include "libanalysis/ranking/layer_numbers.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

constexpr std::uint32_t kNoNode = kNoRow;

// What kind of thing a node's name names. A kernel and a host range of one name are two carriers.
enum class Sort : std::uint8_t { op, gpu_work, call, host_span, path_class, cause };

RankKind kind_of(Sort sort) {
  if (sort == Sort::op) return RankKind::op;
  return sort == Sort::cause ? RankKind::cause : RankKind::carrier;
}

std::string_view cause_name(TimeClass c) {
  switch (c) {
    case TimeClass::kernel:
    case TimeClass::communication:
    case TimeClass::cuda_graph:
      return "running";
    case TimeClass::copy:
    case TimeClass::fill:
      return "copy_engine";
    default:
      return name_of(c);
  }
}

profile::StringId work_name(const profile::Trace& trace, WorkKind kind, RowIndex row) {
  switch (kind) {
    case WorkKind::copy:
      return trace.copies.name[row];
    case WorkKind::fill:
      return trace.fills.name[row];
    case WorkKind::cuda_graph:
      return trace.graph_launches.name[row];
    case WorkKind::kernel:
    case WorkKind::communication:
      break;
  }
  return trace.kernels.name[row];
}

class Builder {
 public:
  Builder(const DependencyGraph& graph, const RangeTree& tree)
      : graph_(graph),
        tree_(tree),
        paths_(graph, tree),
        op_of_path_(paths_.count(), kNoNode),
        work_of_name_(graph.trace.strings.size(), kNoNode),
        call_of_name_(graph.trace.strings.size(), kNoNode),
        span_of_name_(graph.trace.strings.size(), kNoNode) {}

  void add(const PathSegment& s) {
    const std::uint32_t op = op_of(s);
    const std::uint32_t carrier = carrier_of(s);
    const std::uint32_t cause = node(Sort::cause, cause_name(s.time_class));
    for (const std::uint32_t n : {op, carrier, cause}) nodes_[n].path_ns += s.duration_ns;
    add_edge(op, carrier, s.duration_ns);
    add_edge(carrier, cause, s.duration_ns);
  }

  void add(const ChargedDelay& delay) {
    const std::uint32_t by = carrier_of(delay.by);
    add_edge(carrier_of(delay.delayed), by, delay.ns);
    charges_.push_back({by, own_cause(delay.by), delay.ns});
  }

  OpCauseGraph finish() {
    for (const Charge& c : charges_) {
      if (nodes_[c.carrier].path_ns == 0) add_edge(c.carrier, node(Sort::cause, c.cause), c.ns);
    }
    return in_order();
  }

 private:
  struct NamedNode {
    Sort sort;
    std::string name;
    Nanoseconds path_ns;
  };
  struct Charge {
    std::uint32_t carrier;
    std::string_view cause;
    Nanoseconds ns;
  };

  std::uint32_t node(Sort sort, std::string_view name) {
    const auto next = static_cast<std::uint32_t>(nodes_.size());
    const auto [it, added] = ids_.try_emplace({sort, std::string(name)}, next);
    if (added) nodes_.push_back({sort, std::string(name), 0});
    return it->second;
  }

  void add_edge(std::uint32_t from, std::uint32_t to, Nanoseconds ns) {
    edges_[(static_cast<std::uint64_t>(from) << 32) | to] += ns;
  }

  std::uint32_t op_of_path(std::uint32_t path) {
    if (path == OpPaths::kNone) return node(Sort::op, "(no op)");
    std::uint32_t& id = op_of_path_[path];
    if (id == kNoNode) id = node(Sort::op, star_layer_numbers(paths_.text(path)));
    return id;
  }

  std::uint32_t op_of_range(RowIndex range) {
    return op_of_path(range == kNoRow ? OpPaths::kNone : tree_.path_id(range));
  }

  std::uint32_t op_of(const PathSegment& s) {
    switch (s.subject) {
      case PathSegment::Subject::activity:
        return op_of_path(paths_.of(s.row));
      case PathSegment::Subject::call: {
        const profile::ApiCallColumns& calls = graph_.trace.api_calls;
        return op_of_range(tree_.innermost(calls.thread[s.row], calls.start_ns[s.row]));
      }
      case PathSegment::Subject::range:
        return op_of_range(s.row);
      case PathSegment::Subject::none:
        break;
    }
    return op_of_range(kNoRow);
  }

  std::uint32_t carrier_of(const PathSegment& s) {
    switch (s.subject) {
      case PathSegment::Subject::activity:
        return carrier_of(Instance{false, s.row});
      case PathSegment::Subject::call:
        return carrier_of(Instance{true, s.row});
      case PathSegment::Subject::range: {
        const profile::StringId name = graph_.trace.ranges.name[s.row];
        return named(span_of_name_, name, Sort::host_span, graph_.trace.text(name));
      }
      case PathSegment::Subject::none:
        break;
    }
    if (s.time_class == TimeClass::host_code) return node(Sort::host_span, "host code");
    return node(Sort::path_class, name_of(s.time_class));
  }

  std::uint32_t carrier_of(Instance i) {
    if (i.is_call) {
      const profile::StringId name = graph_.trace.api_calls.name[i.row];
      return named(call_of_name_, name, Sort::call, bare_call_name(graph_.trace.text(name)));
    }
    const Activities& work = graph_.work;
    const profile::StringId name = work_name(graph_.trace, work.kind[i.row], work.row[i.row]);
    const std::string_view text = graph_.trace.text(name);
    return named(work_of_name_, name, Sort::gpu_work,
                 text.empty() ? name_of(time_class_of(work.kind[i.row])) : text);
  }

  std::uint32_t named(std::vector<std::uint32_t>& known, profile::StringId id, Sort sort,
                      std::string_view name) {
    if (known[id] == kNoNode) known[id] = node(sort, name);
    return known[id];
  }

  // What an instance does while nothing delays it.
  std::string_view own_cause(Instance i) const {
    if (!i.is_call) return cause_name(time_class_of(graph_.work.kind[i.row]));
    const bool free = graph_.traits.of(i.row).blocking == Blocking::free;
    if (!free && graph_.blocking.blocks(i.row)) return name_of(TimeClass::sync_return);
    return name_of(graph_.submits(i.row) ? TimeClass::launch_call : TimeClass::runtime_call);
  }

  // Numbers the nodes by kind and name, so that the ranking does not depend on who came first.
  OpCauseGraph in_order() const {
    std::vector<std::uint32_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tuple(kind_of(nodes_[a].sort), std::string_view(nodes_[a].name), nodes_[a].sort) <
             std::tuple(kind_of(nodes_[b].sort), std::string_view(nodes_[b].name), nodes_[b].sort);
    });
    OpCauseGraph out;
    std::vector<std::uint32_t> place(nodes_.size());
    for (const std::uint32_t n : order) {
      place[n] = static_cast<std::uint32_t>(out.nodes.size());
      out.nodes.push_back({kind_of(nodes_[n].sort), unique_name(nodes_[n]), nodes_[n].path_ns});
      if (nodes_[n].sort == Sort::op) out.path_ns += nodes_[n].path_ns;
    }
    out.edges.reserve(edges_.size());
    for (const auto& [key, ns] : edges_) {
      out.edges.push_back({place[key >> 32], place[static_cast<std::uint32_t>(key)], ns});
    }
    std::sort(out.edges.begin(), out.edges.end(),
              [](const OpCauseGraph::Edge& a, const OpCauseGraph::Edge& b) {
                return std::tie(a.from, a.to) < std::tie(b.from, b.to);
              });
    return out;
  }

  // A range may have the name of a kernel or a call: then the host side says what it is.
  std::string unique_name(const NamedNode& n) const {
    const bool shared =
        n.sort > Sort::gpu_work && n.sort < Sort::cause &&
        (ids_.count({Sort::gpu_work, n.name}) != 0 ||
         (n.sort != Sort::call && ids_.count({Sort::call, n.name}) != 0) ||
         (n.sort == Sort::path_class && ids_.count({Sort::host_span, n.name}) != 0));
    if (!shared) return n.name;
    if (n.sort == Sort::call) return n.name + " (call)";
    return n.name + (n.sort == Sort::host_span ? " (host)" : " (class)");
  }

  const DependencyGraph& graph_;
  const RangeTree& tree_;
  OpPaths paths_;
  std::vector<NamedNode> nodes_;
  std::map<std::pair<Sort, std::string>, std::uint32_t> ids_;
  std::unordered_map<std::uint64_t, Nanoseconds> edges_;  // by from << 32 | to
  std::vector<Charge> charges_;
  std::vector<std::uint32_t> op_of_path_;    // by path id
  std::vector<std::uint32_t> work_of_name_;  // these by StringId
  std::vector<std::uint32_t> call_of_name_;
  std::vector<std::uint32_t> span_of_name_;
};

}  // namespace

OpCauseGraph build_op_cause_graph(const DependencyGraph& graph, const RangeTree& tree,
                                  const CriticalPath& path,
                                  const std::vector<ChargedDelay>& delays) {
  Builder builder(graph, tree);
  for (const PathSegment& s : path.segments) builder.add(s);
  for (const ChargedDelay& d : delays) builder.add(d);
  return builder.finish();
}

}  // namespace gprofml::analysis
