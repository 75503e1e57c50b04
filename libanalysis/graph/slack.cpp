#include "libanalysis/graph/slack.hpp"

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "libanalysis/graph/arrivals.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

using Node = std::uint32_t;

// `wait_ns`: how long `to` waited for something later than `from`; so much `from` may move.
struct Wait {
  Nanoseconds wait_ns;
};

using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, Wait,
                                                 boost::no_property, std::uint32_t, std::uint32_t>;

// Nodes: the activities, then for every outermost call its start and, if it blocks, its return. A
// call that does not block keeps its length, so one node stands for both.
class Events {
 public:
  explicit Events(const DependencyGraph& graph)
      : graph_(graph),
        work_(graph.work),
        start_node(graph.trace.api_calls.size(), kNoRow),
        end_node(graph.trace.api_calls.size(), kNoRow) {
    number_calls();
    connect_work();
    for (RowIndex t = 0; t < graph_.threads.size(); ++t) connect_thread(t);
  }

  std::size_t size() const { return work_.size() + call_nodes_.size(); }

  // The graph, and its nodes so that each comes after all that depend on it.
  std::pair<Graph, std::vector<Node>> in_reverse_order() {
    try {
      return sorted();
    } catch (const boost::not_a_dag&) {
      // Only events of one instant can wait for each other in a circle (clocks of 1 us, calls of no
      // length): there the order start, work, return, then the position in the trace decides.
      keep_edges_forward();
      return sorted();
    }
  }

 private:
  struct CallNode {
    Nanoseconds at_ns;
    bool is_return;
  };

  void number_calls() {
    const profile::ApiCallColumns& calls = graph_.trace.api_calls;
    for (RowIndex t = 0; t < graph_.threads.size(); ++t) {
      for (const RowIndex c : graph_.threads[t].outermost_calls) {
        start_node[c] = end_node[c] = add_call_node({calls.start_ns[c], false});
        if (graph_.blocking.blocks(c)) end_node[c] = add_call_node({calls.end_ns[c], true});
      }
    }
    for (RowIndex c = 0; c < calls.size(); ++c) {
      if (start_node[c] != kNoRow) continue;
      const RowIndex outer =
          graph_.threads.last_call_before(calls.thread[c], calls.start_ns[c] + 1);
      start_node[c] = start_node[outer];
      end_node[c] = end_node[outer];
    }
  }

  Node add_call_node(CallNode node) {
    call_nodes_.push_back(node);
    return static_cast<Node>(size() - 1);
  }

  std::tuple<Nanoseconds, int, Node> place(Node n) const {
    if (n < work_.size()) return {work_.start_ns[n], 1, n};
    const CallNode& call = call_nodes_[n - work_.size()];
    return {call.at_ns, call.is_return ? 2 : 0, n};
  }

  void connect(Node from, Node to, Nanoseconds wait_ns) {
    if (std::get<Nanoseconds>(place(from)) > std::get<Nanoseconds>(place(to))) return;
    ends_.emplace_back(from, to);
    waits_.push_back({wait_ns});
  }

  void connect_work() {
    const Arrivals arrivals(graph_);
    std::vector<WorkArrival> of_work;
    for (ActivityIndex i = 0; i < work_.size(); ++i) {
      arrivals.of(i, of_work);
      Nanoseconds latest = std::numeric_limits<Nanoseconds>::min();
      for (const WorkArrival& a : of_work) latest = std::max(latest, a.at_ns);
      for (const WorkArrival& a : of_work) {
        connect(a.from_host() ? start_node[a.call] : a.activity, i, latest - a.at_ns);
      }
    }
  }

  void connect_thread(RowIndex thread) {
    Node before = kNoRow;
    for (const RowIndex c : graph_.threads[thread].outermost_calls) {
      if (before != kNoRow) connect(before, start_node[c], 0);
      before = end_node[c];
      if (start_node[c] != end_node[c]) connect_return(c);
    }
  }

  void connect_return(RowIndex call) {
    const Nanoseconds begin = graph_.trace.api_calls.start_ns[call];
    const Nanoseconds end = graph_.trace.api_calls.end_ns[call];
    const std::vector<Awaited> awaited = graph_.blocking.last_of_each_stream(call, end);
    Nanoseconds latest = begin;
    for (const Awaited& a : awaited) latest = std::max(latest, std::min(a.end_ns, end));
    connect(start_node[call], end_node[call], latest - begin);
    for (const Awaited& a : awaited) {
      connect(a.activity, end_node[call], latest - std::min(a.end_ns, end));
    }
  }

  std::pair<Graph, std::vector<Node>> sorted() const {
    Graph graph(boost::edges_are_unsorted_multi_pass, ends_.begin(), ends_.end(), waits_.begin(),
                static_cast<Node>(size()));
    std::vector<Node> order;
    order.reserve(size());
    boost::topological_sort(graph, std::back_inserter(order));
    return {std::move(graph), std::move(order)};
  }

  void keep_edges_forward() {
    std::size_t kept = 0;
    for (std::size_t e = 0; e < ends_.size(); ++e) {
      if (!(place(ends_[e].first) < place(ends_[e].second))) continue;
      ends_[kept] = ends_[e];
      waits_[kept++] = waits_[e];
    }
    ends_.resize(kept);
    waits_.resize(kept);
  }

  const DependencyGraph& graph_;
  const Activities& work_;
  std::vector<CallNode> call_nodes_;
  std::vector<std::pair<Node, Node>> ends_;
  std::vector<Wait> waits_;

 public:
  std::vector<Node> start_node;  // by call; nested ones: of the outermost around them
  std::vector<Node> end_node;
};

// How far each event is from the sink if nothing depends on it.
std::vector<Nanoseconds> room_to_sink(const DependencyGraph& graph, const Sink& sink,
                                      const Events& events) {
  std::vector<Nanoseconds> room(events.size(), Slack::kUnlimited);
  if (sink.activity != kNoActivity) {
    room[sink.activity] = 0;
    return room;
  }
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    const Nanoseconds left = sink.at_ns - graph.work.corrected_end_ns[i];
    if (left >= 0) room[i] = left;
  }
  for (RowIndex t = 0; t < graph.threads.size(); ++t) {
    for (const RowIndex c : graph.threads[t].outermost_calls) {
      const Nanoseconds left = sink.at_ns - graph.trace.api_calls.end_ns[c];
      if (left >= 0) room[events.end_node[c]] = left;
    }
  }
  return room;
}

}  // namespace

Sink sink_at_last_end(const DependencyGraph& graph, Nanoseconds until_ns) {
  std::optional<Nanoseconds> last;
  const auto consider = [&](Nanoseconds end) {
    if (end <= until_ns && (!last || end > *last)) last = end;
  };
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (graph.work.start_ns[i] < until_ns) consider(graph.work.corrected_end_ns[i]);
  }
  for (const Nanoseconds end : graph.trace.api_calls.end_ns) consider(end);
  return {last.value_or(until_ns), kNoActivity};
}

Slack::Slack(const DependencyGraph& graph, const Sink& sink) {
  Events events(graph);
  of_node_ = room_to_sink(graph, sink, events);
  const auto [dependencies, order] = events.in_reverse_order();
  for (const Node from : order) {
    Nanoseconds slack = of_node_[from];
    for (auto [edge, end] = out_edges(from, dependencies); edge != end; ++edge) {
      const Nanoseconds beyond = of_node_[target(*edge, dependencies)];
      if (beyond != kUnlimited) slack = std::min(slack, beyond + dependencies[*edge].wait_ns);
    }
    of_node_[from] = slack;
  }
  start_node_ = std::move(events.start_node);
  end_node_ = std::move(events.end_node);
}

}  // namespace gprofml::analysis
