#include "test/simgpu/engine/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu {
namespace {

CUgraph handle_of(const Graph* graph) {
  return reinterpret_cast<CUgraph>(const_cast<Graph*>(graph));
}
CUgraphNode handle_of(const GraphNode* node) {
  return reinterpret_cast<CUgraphNode>(const_cast<GraphNode*>(node));
}

const char* kind_name(const Operation& operation) {
  static constexpr const char* kNames[] = {
      "empty",      "kernel",      "copy",     "fill",    "host_function", "event_record",
      "event_wait", "child_graph", "allocate", "release", "conditional"};
  return kNames[static_cast<int>(operation.kind)];
}

std::string where_and_when() {
  return fmt::format(R"("time":{},"correlation":{},"thread":{}}})", now_ns(), correlation_now(),
                     this_thread().ordinal);
}

void log_graph(const char* what, std::uint32_t id, std::uint32_t original) {
  if (log_wanted()) {
    log_line(fmt::format(R"({{"type":"graph","what":"{}","graph":{},"original":{},{})", what, id,
                         original, where_and_when()));
  }
}

void log_node(const char* what, const GraphNode& node) {
  if (!log_wanted()) {
    return;
  }
  std::string dependencies;
  for (const GraphNode* dependency : node.dependencies) {
    dependencies += (dependencies.empty() ? "" : ",") + std::to_string(dependency->id);
  }
  const Operation& operation = node.operation;
  const char* name = operation.kind == Operation::Kind::kernel ? operation.kernel.name : "";
  log_line(fmt::format(
      R"({{"type":"node","what":"{}","graph":{},"node":{},"original":{},"kind":"{}","name":{},"dependencies":[{}],{})",
      what, node.graph->id, node.id, node.original != nullptr ? node.original->id : 0,
      kind_name(operation), json_string(name), dependencies, where_and_when()));
}

void tell_dependency(ResourceEvent::What what, const GraphNode& from, const GraphNode& to) {
  ResourceEvent event;
  event.what = what;
  event.graph = handle_of(to.graph);
  event.node = handle_of(&from);
  event.dependency = handle_of(&to);
  event.node_type = type_of(from);
  tell_resource(event, current_context());
}

void tell_node(ResourceEvent::What what, const GraphNode& node) {
  ResourceEvent event;
  event.what = what;
  event.graph = handle_of(node.graph);
  event.node = handle_of(&node);
  event.node_type = type_of(node);
  if (node.original != nullptr) {
    event.original_node = handle_of(node.original);
    event.original_graph = handle_of(node.original->graph);
  }
  tell_resource(event, current_context());
}

using NodeMap = std::map<const GraphNode*, GraphNode*>;

std::map<const GraphExec*, NodeMap>& exec_maps() {
  static auto* maps = new std::map<const GraphExec*, NodeMap>;
  return *maps;
}

std::vector<GraphNode*> mapped(const std::vector<GraphNode*>& nodes, const NodeMap& map) {
  std::vector<GraphNode*> result;
  for (const GraphNode* node : nodes) {
    result.push_back(map.at(node));
  }
  return result;
}

std::vector<GraphNode*> flatten(const Graph& graph, Graph& into,
                                const std::vector<GraphNode*>& before, NodeMap& map);

/// The body of a conditional node: behind it, and within it unless within one that is in there.
void flatten_body(const Graph& graph, Graph& into, GraphNode* conditional, std::size_t body,
                  NodeMap& map) {
  const std::size_t first = into.nodes.size();
  flatten(graph, into, {conditional}, map);
  for (std::size_t i = first; i < into.nodes.size(); ++i) {
    if (into.nodes[i]->within == nullptr) {
      into.nodes[i]->within = conditional;
      into.nodes[i]->body = body;
    }
  }
}

/// Clones a graph's nodes into an executable one. Roots additionally depend on `before`. Returns
/// the clones of its leaves.
std::vector<GraphNode*> flatten(const Graph& graph, Graph& into,
                                const std::vector<GraphNode*>& before, NodeMap& map) {
  std::set<GraphNode*> leaves;
  for (GraphNode* node : in_order(graph)) {
    std::vector<GraphNode*> dependencies = mapped(node->dependencies, map);
    for (GraphNode* dependency : dependencies) {
      leaves.erase(dependency);
    }
    if (dependencies.empty()) {
      dependencies = before;
    }
    if (node->operation.kind == Operation::Kind::child_graph) {
      dependencies = flatten(*node->operation.child, into, dependencies, map);
    }
    Operation operation = node->operation;
    operation.bodies.clear();  // the original's
    GraphNode* clone = add_node(into, std::move(operation), dependencies, node);
    clone->enabled = node->enabled;
    map[node] = clone;
    for (std::size_t body = 0; body < node->operation.bodies.size(); ++body) {
      flatten_body(*node->operation.bodies[body], into, clone, body, map);
    }
    leaves.insert(clone);
  }
  // In the order of their making, not of their addresses.
  std::vector<GraphNode*> result;
  std::copy_if(into.nodes.begin(), into.nodes.end(), std::back_inserter(result),
               [&leaves](GraphNode* node) { return leaves.count(node) != 0; });
  return result.empty() ? before : result;
}

/// A node goes on with the lowest lane among those dependencies that nobody goes on with yet.
void assign_lanes(GraphExec& exec) {
  std::set<const GraphNode*> continued;
  int lanes = 0;
  for (GraphNode* node : in_order(*exec.clone)) {
    const GraphNode* before = nullptr;
    for (const GraphNode* dependency : node->dependencies) {
      if (continued.count(dependency) == 0 &&
          (before == nullptr || dependency->lane < before->lane)) {
        before = dependency;
      }
    }
    continued.insert(before);
    node->lane = before != nullptr ? before->lane : lanes++;
  }
  for (int lane = 1; lane < lanes; ++lane) {
    exec.lanes.push_back(next_id(IdKind::stream));
  }
}

/// Executable graphs that are gone, the latest one last.
std::vector<GraphExec*>& destroyed_execs() {
  static auto* all = new std::vector<GraphExec*>;
  return *all;
}

/// A new object, or with the fault `reused_execs` the latest one that was destroyed: its handle
/// then stands for another graph, as happens with a driver that gives memory out again.
GraphExec* make_exec() {
  if (fault("reused_execs") == nullptr || destroyed_execs().empty()) {
    return new GraphExec;
  }
  GraphExec* again = destroyed_execs().back();
  destroyed_execs().pop_back();
  exec_maps().erase(again);
  *again = GraphExec{};
  return again;
}

}  // namespace

bool depends_on(const GraphNode* node, const GraphNode* ancestor) {
  std::set<const GraphNode*> seen{node};
  std::vector<const GraphNode*> open{node};
  while (!open.empty()) {
    const GraphNode* next = open.back();
    open.pop_back();
    if (next == ancestor) {
      return true;
    }
    for (const GraphNode* dependency : next->dependencies) {
      if (seen.insert(dependency).second) {
        open.push_back(dependency);
      }
    }
  }
  return false;
}

std::vector<GraphNode*> in_order(const Graph& graph) {
  std::vector<GraphNode*> result;
  std::set<const GraphNode*> placed;
  std::vector<GraphNode*> left = graph.nodes;
  while (!left.empty()) {
    std::vector<GraphNode*> later;
    for (GraphNode* node : left) {
      const bool free = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                    [&placed](GraphNode* d) { return placed.count(d) != 0; });
      if (free) {
        placed.insert(node);
        result.push_back(node);
      } else {
        later.push_back(node);
      }
    }
    if (later.size() == left.size()) {
      return {};  // a cycle
    }
    left.swap(later);
  }
  return result;
}

CUgraphNodeType type_of(const GraphNode& node) {
  static constexpr CUgraphNodeType kTypes[] = {
      CU_GRAPH_NODE_TYPE_EMPTY,      CU_GRAPH_NODE_TYPE_KERNEL,     CU_GRAPH_NODE_TYPE_MEMCPY,
      CU_GRAPH_NODE_TYPE_MEMSET,     CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_EVENT_RECORD,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_GRAPH,      CU_GRAPH_NODE_TYPE_MEM_ALLOC,
      CU_GRAPH_NODE_TYPE_MEM_FREE,   CU_GRAPH_NODE_TYPE_CONDITIONAL};
  return kTypes[static_cast<int>(node.operation.kind)];
}

Graph* make_graph(const Graph* original, bool executable) {
  auto* graph = new Graph;
  graph->id = next_id(IdKind::graph);
  graph->is_executable = executable;
  register_handle(HandleKind::graph, graph);
  ResourceEvent event;
  event.what =
      original != nullptr ? ResourceEvent::What::graph_cloned : ResourceEvent::What::graph_created;
  event.graph = handle_of(graph);
  event.original_graph = handle_of(original);
  tell_resource(event, current_context());
  log_graph(original != nullptr ? "cloned" : "created", graph->id,
            original != nullptr ? original->id : 0);
  return graph;
}

void destroy_graph(Graph* graph) {
  ResourceEvent event;
  event.what = ResourceEvent::What::graph_destroy_starting;
  event.graph = handle_of(graph);
  tell_resource(event, current_context());
  for (GraphNode* node : graph->nodes) {
    for (Graph* body : node->operation.bodies) {
      destroy_graph(body);
    }
    tell_node(ResourceEvent::What::node_destroy_starting, *node);
    forget_handle(HandleKind::node, node);
  }
  log_graph("destroyed", graph->id, 0);
  forget_handle(HandleKind::graph, graph);
}

GraphNode* add_node(Graph& graph, Operation operation, std::vector<GraphNode*> dependencies,
                    const GraphNode* original) {
  auto* node = new GraphNode;
  node->id = (std::uint64_t{graph.id} << 32U) | ++graph.nodes_made;
  node->graph = &graph;
  node->operation = std::move(operation);
  node->dependencies = std::move(dependencies);
  node->original = original;
  graph.nodes.push_back(node);
  register_handle(HandleKind::node, node);
  tell_node(
      original != nullptr ? ResourceEvent::What::node_cloned : ResourceEvent::What::node_created,
      *node);
  log_node(original != nullptr ? "cloned" : "created", *node);
  for (const GraphNode* dependency : node->dependencies) {
    tell_dependency(ResourceEvent::What::dependency_created, *dependency, *node);
  }
  return node;
}

void destroy_node(GraphNode* node) {
  tell_node(ResourceEvent::What::node_destroy_starting, *node);
  std::vector<GraphNode*>& nodes = node->graph->nodes;
  nodes.erase(std::remove(nodes.begin(), nodes.end(), node), nodes.end());
  for (GraphNode* other : nodes) {
    std::vector<GraphNode*>& dependencies = other->dependencies;
    dependencies.erase(std::remove(dependencies.begin(), dependencies.end(), node),
                       dependencies.end());
  }
  forget_handle(HandleKind::node, node);
}

CUresult add_dependency(GraphNode* from, GraphNode* to) {
  const auto& known = to->dependencies;
  if (from->graph != to->graph || from == to || depends_on(from, to) ||
      std::find(known.begin(), known.end(), from) != known.end()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  to->dependencies.push_back(from);
  tell_dependency(ResourceEvent::What::dependency_created, *from, *to);
  if (log_wanted()) {
    log_line(fmt::format(R"({{"type":"dependency","what":"created","from":{},"to":{},{})", from->id,
                         to->id, where_and_when()));
  }
  return CUDA_SUCCESS;
}

CUresult remove_dependency(GraphNode* from, GraphNode* to) {
  const auto found = std::find(to->dependencies.begin(), to->dependencies.end(), from);
  if (found == to->dependencies.end()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  tell_dependency(ResourceEvent::What::dependency_destroy_starting, *from, *to);
  to->dependencies.erase(found);
  if (log_wanted()) {
    log_line(fmt::format(R"({{"type":"dependency","what":"destroyed","from":{},"to":{},{})",
                         from->id, to->id, where_and_when()));
  }
  return CUDA_SUCCESS;
}

Graph* clone_graph(const Graph& graph) {
  Graph* clone = make_graph(&graph);
  NodeMap map;
  for (GraphNode* node : in_order(graph)) {
    Operation operation = node->operation;
    if (operation.child != nullptr) {
      operation.child = clone_graph(*operation.child);
    }
    for (Graph*& body : operation.bodies) {
      body = clone_graph(*body);
    }
    map[node] = add_node(*clone, std::move(operation), mapped(node->dependencies, map), node);
    map[node]->enabled = node->enabled;
  }
  return clone;
}

CUresult instantiate(const Graph& graph, std::uint64_t flags, GraphExec** made) {
  if (!graph.nodes.empty() && in_order(graph).empty()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  GraphExec* exec = make_exec();
  exec->original = &graph;
  exec->flags = flags;
  exec->clone = make_graph(&graph, true);
  flatten(graph, *exec->clone, {}, exec_maps()[exec]);
  assign_lanes(*exec);
  register_handle(HandleKind::graph_exec, exec);
  ResourceEvent event;
  event.what = ResourceEvent::What::graph_exec_created;
  event.graph = handle_of(exec->clone);
  event.original_graph = handle_of(&graph);
  event.graph_exec = reinterpret_cast<CUgraphExec>(exec);
  tell_resource(event, current_context());
  log_graph("instantiated", exec->clone->id, graph.id);
  *made = exec;
  return CUDA_SUCCESS;
}

void destroy_exec(GraphExec* exec) {
  ResourceEvent event;
  event.what = ResourceEvent::What::graph_exec_destroy_starting;
  event.graph = handle_of(exec->clone);
  event.graph_exec = reinterpret_cast<CUgraphExec>(exec);
  tell_resource(event, current_context());
  forget_handle(HandleKind::graph_exec, exec);
  destroy_graph(exec->clone);
  destroyed_execs().push_back(exec);
}

GraphNode* node_in_exec(const GraphExec& exec, const GraphNode* original) {
  const NodeMap& map = exec_maps()[&exec];
  const auto found = map.find(original);
  return found != map.end() ? found->second : nullptr;
}

CUresult update_exec(GraphExec& exec, const Graph& graph, const GraphNode** different) {
  // Flattened the same way, nodes correspond by their place.
  std::vector<GraphNode*> wanted;
  const std::function<void(const Graph&)> walk = [&](const Graph& part) {
    for (GraphNode* node : in_order(part)) {
      if (node->operation.kind == Operation::Kind::child_graph) {
        walk(*node->operation.child);
      }
      wanted.push_back(node);
      for (const Graph* body : node->operation.bodies) {
        walk(*body);
      }
    }
  };
  walk(graph);
  const std::vector<GraphNode*>& present = exec.clone->nodes;
  for (std::size_t i = 0; i < std::max(wanted.size(), present.size()); ++i) {
    const bool same =
        i < wanted.size() && i < present.size() &&
        wanted[i]->operation.kind == present[i]->operation.kind &&
        (wanted[i]->dependencies.size() == present[i]->dependencies.size() ||
         wanted[i]->graph != &graph || wanted[i]->operation.kind == Operation::Kind::child_graph);
    if (!same) {
      *different = i < wanted.size() ? wanted[i] : nullptr;
      return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
  }
  // Nodes go on being named by those of the graph that was instantiated, not of this one.
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    present[i]->operation = wanted[i]->operation;
    present[i]->operation.bodies.clear();
  }
  return CUDA_SUCCESS;
}

}  // namespace gprofml::simgpu
