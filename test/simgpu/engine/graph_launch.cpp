// Launches of executable graphs.
#include <algorithm>
#include <map>
#include <utility>

#include "test/simgpu/engine/effects.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/graph.hpp"
#include "test/simgpu/engine/launch_queue.hpp"
#include "test/simgpu/engine/log.hpp"

namespace gprofml::simgpu {
namespace {

void tell_launch(const GraphExec& exec, const Stream& stream, std::int64_t start_ns,
                 std::int64_t end_ns) {
  GraphLaunch launch;
  launch.at.start_ns = start_ns;
  launch.at.end_ns = end_ns;
  launch.at.device = stream.context->device->ordinal;
  launch.at.context_id = stream.context->id;
  launch.at.stream_id = stream.id;
  launch.at.correlation = correlation_now();
  launch.at.graph_id = exec.clone->id;
  if (log_wanted()) {
    log_line(R"({"type":"graph_launch",)" + placement_json(launch.at));
  }
  tell([launch](Observer& observer) { observer.launched(launch); });
}

/// One launch under way: nodes in order, the bodies of conditional nodes as often as they run.
struct GraphRun {
  struct Done {
    std::int64_t end_ns = 0;
    Pending pending;
  };
  GraphExec& exec;
  Stream& stream;
  const std::vector<GraphNode*>& order;
  Pending before;
  bool queue_effects;
  std::map<const GraphNode*, Done> done;
  Pending pending;

  /// Runs the nodes of one body (nullptr: of the graph itself); returns when the last one ends.
  std::int64_t run(const GraphNode* within, std::size_t body, std::int64_t earliest_ns) {
    std::int64_t end_ns = earliest_ns;
    for (GraphNode* node : order) {
      if (node->within == within && node->body == body) {
        end_ns = std::max(end_ns, run(*node, earliest_ns));
      }
    }
    return end_ns;
  }

 private:
  std::int64_t run(GraphNode& node, std::int64_t earliest_ns) {
    Placement at;
    at.start_ns = earliest_ns;
    Pending after = before;
    for (const GraphNode* dependency : node.dependencies) {
      const auto found = done.find(dependency);
      if (found == done.end()) {
        continue;  // the conditional node whose body this is: it is under way
      }
      at.start_ns = std::max(at.start_ns, found->second.end_ns + model().graph_node_gap_ns);
      after = joined(after, found->second.pending);
    }
    at.stream_id = node.lane == 0 ? stream.id : exec.lanes[static_cast<std::size_t>(node.lane) - 1];
    at.correlation = correlation_now();
    at.graph_id = exec.clone->id;
    at.graph_node_id = node.id;
    std::int64_t end_ns = at.start_ns;
    if (node.enabled) {
      end_ns = execute(node.operation, stream, at, after, queue_effects);
      end_ns = run_bodies(node, end_ns, after);
    }
    pending = joined(pending, after);
    done[&node] = {end_ns, after};
    return end_ns;
  }

  std::int64_t run_bodies(const GraphNode& node, std::int64_t start_ns, Pending& after) {
    const Operation& operation = node.operation;
    if (operation.kind != Operation::Kind::conditional) {
      return start_ns;
    }
    done.erase(&node);  // of an earlier turn, when it is within another one's body
    const bool is_while = operation.condition == CU_GRAPH_COND_TYPE_WHILE;
    const bool is_switch = operation.condition == CU_GRAPH_COND_TYPE_SWITCH;
    const bool holds = operation.condition_value != 0;
    const int turns = is_while ? (holds ? model().while_iterations : 0) : 1;
    const std::size_t body = is_switch ? operation.condition_value : is_while || holds ? 0U : 1U;
    std::int64_t end_ns = start_ns;
    const Pending outside = std::exchange(before, after);
    for (int turn = 0; turn < turns; ++turn) {
      const std::int64_t earliest_ns = end_ns + model().graph_node_gap_ns;
      const std::int64_t turn_end_ns = run(&node, body, earliest_ns);
      end_ns = turn_end_ns > earliest_ns ? turn_end_ns : end_ns;  // an empty body takes no time
      before = joined(before, pending);
    }
    after = before;
    before = outside;
    return end_ns;
  }
};

}  // namespace

CUresult launch_graph(GraphExec& exec, Stream& stream) {
  if (stream.capture != nullptr) {
    Operation operation;
    operation.kind = Operation::Kind::child_graph;
    operation.child = exec.clone;
    return capture(stream, std::move(operation));
  }
  if (capture_forbids(stream)) {
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  }
  const std::vector<GraphNode*> order = in_order(*exec.clone);
  const bool has_host_functions = std::any_of(
      order.begin(), order.end(),
      [](const GraphNode* node) { return node->operation.kind == Operation::Kind::host_function; });
  for (GraphNode* node : order) {
    if (node->operation.kind == Operation::Kind::kernel) {
      load_function(*stream.context, *node->operation.function);
    }
  }
  wait_for_room(stream);
  const Ready base = ready(stream);
  const std::int64_t earliest =
      std::max({base.time_ns, exec.end_ns, now_ns() + model().launch_latency_ns});
  GraphRun run{exec, stream, order, base.after, has_host_functions, {}, base.after};
  const std::int64_t end_ns = run.run(nullptr, 0, earliest);
  exec.end_ns = end_ns;
  occupy(stream, end_ns, run.pending);
  enqueue(stream, end_ns);
  tell_launch(exec, stream, earliest, end_ns);
  return CUDA_SUCCESS;
}

}  // namespace gprofml::simgpu
