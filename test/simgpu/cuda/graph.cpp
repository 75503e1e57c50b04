// Graphs as such: made, cloned, destroyed; which nodes and edges they have.
#include "test/simgpu/cuda/graph.hpp"

#include <algorithm>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/graph_operations.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  EngineLock lock;
  if (graph == nullptr || flags != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *graph = handle<CUgraph>(make_graph());
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  EngineLock lock;
  Graph* found = live<Graph>(graph);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  destroy_graph(found);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph original) {
  EngineLock lock;
  const Graph* found = live<Graph>(original);
  if (found == nullptr || clone == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *clone = handle<CUgraph>(clone_graph(*found));
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  EngineLock lock;
  const GraphNode* found = live<GraphNode>(node);
  if (found == nullptr || type == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *type = type_of(*found);
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  EngineLock lock;
  const Graph* found = live<Graph>(graph);
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : list(found->nodes, nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  EngineLock lock;
  const Graph* found = live<Graph>(graph);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<GraphNode*> roots;
  std::copy_if(found->nodes.begin(), found->nodes.end(), std::back_inserter(roots),
               [](const GraphNode* node) { return node->dependencies.empty(); });
  return list(roots, nodes, count);
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  EngineLock lock;
  const Graph* found = live<Graph>(graph);
  if (found == nullptr || count == nullptr || (from == nullptr) != (to == nullptr)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<GraphNode*> sources;
  std::vector<GraphNode*> targets;
  for (GraphNode* node : found->nodes) {
    for (GraphNode* dependency : node->dependencies) {
      sources.push_back(dependency);
      targets.push_back(node);
    }
  }
  std::size_t same = *count;
  for (std::size_t i = 0; data != nullptr && i < std::min(*count, sources.size()); ++i) {
    data[i] = {};
  }
  list(sources, from, &same);
  return list(targets, to, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       size_t* count) {
  EngineLock lock;
  const GraphNode* found = live<GraphNode>(node);
  if (found == nullptr || count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; data != nullptr && i < std::min(*count, found->dependencies.size());
       ++i) {
    data[i] = {};
  }
  return list(found->dependencies, nodes, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  EngineLock lock;
  GraphNode* found = live<GraphNode>(node);
  if (found == nullptr || count == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<GraphNode*> dependents;
  std::copy_if(found->graph->nodes.begin(), found->graph->nodes.end(),
               std::back_inserter(dependents), [found](const GraphNode* other) {
                 const auto& all = other->dependencies;
                 return std::find(all.begin(), all.end(), found) != all.end();
               });
  for (std::size_t i = 0; data != nullptr && i < std::min(*count, dependents.size()); ++i) {
    data[i] = {};
  }
  return list(dependents, nodes, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
  EngineLock lock;
  CUresult result = CUDA_SUCCESS;
  for (std::size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    GraphNode* source = live<GraphNode>(from[i]);
    GraphNode* target = live<GraphNode>(to[i]);
    result = source == nullptr || target == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                    : add_dependency(source, target);
  }
  return result;
}

CUresult cuGraphRemoveDependencies_v2(CUgraph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  EngineLock lock;
  CUresult result = CUDA_SUCCESS;
  for (std::size_t i = 0; i < count && result == CUDA_SUCCESS; ++i) {
    GraphNode* source = live<GraphNode>(from[i]);
    GraphNode* target = live<GraphNode>(to[i]);
    result = source == nullptr || target == nullptr ? CUDA_ERROR_INVALID_VALUE
                                                    : remove_dependency(source, target);
  }
  return result;
}

CUresult cuGraphDestroyNode(CUgraphNode node) {
  EngineLock lock;
  GraphNode* found = live<GraphNode>(node);
  if (found == nullptr || found->graph->is_executable) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  destroy_node(found);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  EngineLock lock;
  const Graph* graph = live<Graph>(clone);
  const GraphNode* wanted = live<GraphNode>(original);
  for (GraphNode* candidate : graph != nullptr ? graph->nodes : std::vector<GraphNode*>{}) {
    if (wanted != nullptr && candidate->original == wanted) {
      *node = handle<CUgraphNode>(candidate);
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace gprofml::simgpu::driver
