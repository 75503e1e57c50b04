#include "test/simgpu/cuda/graph_operations.hpp"

#include <algorithm>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/copy.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {

bool nodes_of(const Graph* graph, const CUgraphNode* handles, std::size_t count,
              std::vector<GraphNode*>* nodes) {
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode* node = live<GraphNode>(handles[i]);
    if (node == nullptr || node->graph != graph ||
        std::find(nodes->begin(), nodes->end(), node) != nodes->end()) {
      return false;
    }
    nodes->push_back(node);
  }
  return true;
}

CUresult add(CUgraphNode* made, CUgraph graph_handle, const CUgraphNode* handles, std::size_t count,
             Operation operation) {
  Graph* graph = live<Graph>(graph_handle);
  std::vector<GraphNode*> dependencies;
  if (made == nullptr || graph == nullptr || (count != 0 && handles == nullptr) ||
      !nodes_of(graph, handles, count, &dependencies)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *made = handle<CUgraphNode>(add_node(*graph, std::move(operation), std::move(dependencies)));
  return CUDA_SUCCESS;
}

CUresult list(const std::vector<GraphNode*>& nodes, CUgraphNode* out, std::size_t* count) {
  if (count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (out != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) {
      out[i] = i < nodes.size() ? handle<CUgraphNode>(nodes[i]) : nullptr;
    }
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return CUDA_SUCCESS;
}

GraphNode* node_of_kind(CUgraphNode node_handle, Operation::Kind kind) {
  GraphNode* node = live<GraphNode>(node_handle);
  return node != nullptr && node->operation.kind == kind ? node : nullptr;
}

GraphNode* exec_node(CUgraphExec exec_handle, CUgraphNode node_handle, Operation::Kind kind) {
  const GraphExec* exec = live<GraphExec>(exec_handle);
  const GraphNode* node = reinterpret_cast<const GraphNode*>(node_handle);
  GraphNode* found = exec != nullptr ? node_in_exec(*exec, node) : nullptr;
  return found != nullptr && found->operation.kind == kind ? found : nullptr;
}

CUresult make_host(const CUDA_HOST_NODE_PARAMS* parameters, Operation* operation) {
  if (parameters == nullptr || parameters->fn == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  operation->kind = Operation::Kind::host_function;
  operation->host_parameters = *parameters;
  operation->effect = [p = *parameters] { p.fn(p.userData); };
  return CUDA_SUCCESS;
}

CUresult make_memset(const CUDA_MEMSET_NODE_PARAMS* p, Operation* operation) {
  if (p == nullptr || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  return make_fill(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height, true,
                   operation);
}

CUresult make_event(CUevent event_handle, Operation::Kind kind, Operation* operation) {
  operation->kind = kind;
  operation->event = live<Event>(event_handle);
  return operation->event != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult replace(GraphNode* node, CUresult made, Operation& operation) {
  if (node == nullptr || made != CUDA_SUCCESS) {
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE : made;
  }
  node->operation = std::move(operation);
  return CUDA_SUCCESS;
}

}  // namespace gprofml::simgpu::driver
