// Graphs and stream capture.
#include "test/simgpu/cuda/graph.hpp"

#include <algorithm>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/copy.hpp"
#include "test/simgpu/cuda/launch.hpp"
#include "test/simgpu/cuda/memory.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {
namespace {

/// Handles of nodes as nodes of this graph; false when one is not.
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

/// Gives out a list as graph queries do: the count alone, or as many as there is room for.
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

/// The node of an executable graph that stands for a node of its original.
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

/// Replaces what a node does by something of the same kind. By reference: calls make the operation
/// in the argument before.
CUresult replace(GraphNode* node, CUresult made, Operation& operation) {
  if (node == nullptr || made != CUDA_SUCCESS) {
    return node == nullptr ? CUDA_ERROR_INVALID_VALUE : made;
  }
  node->operation = std::move(operation);
  return CUDA_SUCCESS;
}

}  // namespace

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

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  EngineLock lock;
  Operation operation;
  const CUresult result = parameters == nullptr
                              ? CUDA_ERROR_INVALID_VALUE
                              : make_launch(*parameters, nullptr, 0, false, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMCPY3D* parameters, CUcontext) {
  EngineLock lock;
  Operation operation;
  const CUresult result =
      parameters == nullptr ? CUDA_ERROR_INVALID_VALUE : make_copy(*parameters, true, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  EngineLock lock;
  Operation operation;
  const CUresult result = make_memset(parameters, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            size_t count, const CUDA_HOST_NODE_PARAMS* parameters) {
  EngineLock lock;
  Operation operation;
  const CUresult result = make_host(parameters, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             size_t count) {
  EngineLock lock;
  return add(node, graph, dependencies, count, {});
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* dependencies, size_t count, CUevent event) {
  EngineLock lock;
  Operation operation;
  const CUresult result = make_event(event, Operation::Kind::event_record, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 size_t count, CUevent event) {
  EngineLock lock;
  Operation operation;
  const CUresult result = make_event(event, Operation::Kind::event_wait, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  size_t count, CUgraph child) {
  EngineLock lock;
  const Graph* found = live<Graph>(child);
  if (found == nullptr || child == graph) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Operation operation;
  operation.kind = Operation::Kind::child_graph;
  operation.child = clone_graph(*found);
  return add(node, graph, dependencies, count, std::move(operation));
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* graph) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::child_graph);
  if (found == nullptr || graph == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *graph = handle<CUgraph>(found->operation.child);
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::kernel);
  if (found == nullptr || parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = found->operation.kernel_parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS* parameters) {
  EngineLock lock;
  Operation operation;
  GraphNode* found = node_of_kind(node, Operation::Kind::kernel);
  return parameters == nullptr
             ? CUDA_ERROR_INVALID_VALUE
             : replace(found, make_launch(*parameters, nullptr, 0, false, &operation), operation);
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* parameters) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::copy);
  if (found == nullptr || parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = found->operation.copy_parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* parameters) {
  EngineLock lock;
  Operation operation;
  GraphNode* found = node_of_kind(node, Operation::Kind::copy);
  return parameters == nullptr
             ? CUDA_ERROR_INVALID_VALUE
             : replace(found, make_copy(*parameters, true, &operation), operation);
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::fill);
  if (found == nullptr || parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = found->operation.fill_parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* parameters) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_memset(parameters, &operation);
  return replace(node_of_kind(node, Operation::Kind::fill), made, operation);
}

CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS* parameters) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::host_function);
  if (found == nullptr || parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = found->operation.host_parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS* parameters) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_host(parameters, &operation);
  return replace(node_of_kind(node, Operation::Kind::host_function), made, operation);
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_event(event, Operation::Kind::event_record, &operation);
  return replace(node_of_kind(node, Operation::Kind::event_record), made, operation);
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_event(event, Operation::Kind::event_wait, &operation);
  return replace(node_of_kind(node, Operation::Kind::event_wait), made, operation);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  EngineLock lock;
  if (parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Device* device = device_of(parameters->poolProps.location.id);
  if (device == nullptr || parameters->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
      parameters->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  Operation operation;
  CUresult result =
      make_allocation(device->graph_pool, current_context(), parameters->bytesize, &operation);
  if (result == CUDA_SUCCESS) {
    operation.allocation_parameters.poolProps = parameters->poolProps;
    parameters->dptr = operation.address;
    result = add(node, graph, dependencies, count, std::move(operation));
  }
  return result;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               size_t count, CUdeviceptr pointer) {
  EngineLock lock;
  Operation operation;
  const CUresult result = make_release(pointer, &operation);
  return result == CUDA_SUCCESS ? add(node, graph, dependencies, count, std::move(operation))
                                : result;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::allocate);
  if (found == nullptr || parameters == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = found->operation.allocation_parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode node, CUdeviceptr* pointer) {
  EngineLock lock;
  const GraphNode* found = node_of_kind(node, Operation::Kind::release);
  if (found == nullptr || pointer == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pointer = found->operation.address;
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

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  EngineLock lock;
  const Graph* found = live<Graph>(graph);
  if (found == nullptr || exec == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  GraphExec* made = nullptr;
  const CUresult result = instantiate(*found, flags, &made);
  *exec = handle<CUgraphExec>(made);
  return result;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  const CUresult result = driver::cuGraphInstantiateWithFlags(exec, graph, parameters->flags);
  parameters->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  parameters->hErrNode_out = nullptr;
  return result;
}

CUresult cuGraphExecGetFlags(CUgraphExec exec, cuuint64_t* flags) {
  EngineLock lock;
  const GraphExec* found = live<GraphExec>(exec);
  if (found == nullptr || flags == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *flags = found->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  EngineLock lock;
  GraphExec* found = live<GraphExec>(exec);
  if (found == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  destroy_exec(found);
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  EngineLock lock;
  return live<GraphExec>(exec) != nullptr && stream_of(stream) != nullptr
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream_handle) {
  EngineLock lock;
  GraphExec* found = live<GraphExec>(exec);
  Stream* stream = stream_of(stream_handle);
  if (found == nullptr || stream == nullptr) {
    return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE;
  }
  return launch_graph(*found, *stream);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  EngineLock lock;
  GraphExec* found = live<GraphExec>(exec);
  const Graph* with = live<Graph>(graph);
  if (found == nullptr || with == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const GraphNode* different = nullptr;
  const CUresult result = update_exec(*found, *with, &different);
  if (info != nullptr) {
    info->result = result == CUDA_SUCCESS ? CU_GRAPH_EXEC_UPDATE_SUCCESS
                                          : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    info->errorNode = reinterpret_cast<CUgraphNode>(const_cast<GraphNode*>(different));
    info->errorFromNode = nullptr;
  }
  return result;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* p) {
  EngineLock lock;
  Operation operation;
  GraphNode* found = exec_node(exec, node, Operation::Kind::kernel);
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE
                      : replace(found, make_launch(*p, nullptr, 0, false, &operation), operation);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* p,
                                        CUcontext) {
  EngineLock lock;
  Operation operation;
  GraphNode* found = exec_node(exec, node, Operation::Kind::copy);
  return p == nullptr ? CUDA_ERROR_INVALID_VALUE
                      : replace(found, make_copy(*p, true, &operation), operation);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_memset(p, &operation);
  return replace(exec_node(exec, node, Operation::Kind::fill), made, operation);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* p) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_host(p, &operation);
  return replace(exec_node(exec, node, Operation::Kind::host_function), made, operation);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_event(event, Operation::Kind::event_record, &operation);
  return replace(exec_node(exec, node, Operation::Kind::event_record), made, operation);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  EngineLock lock;
  Operation operation;
  const CUresult made = make_event(event, Operation::Kind::event_wait, &operation);
  return replace(exec_node(exec, node, Operation::Kind::event_wait), made, operation);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned enabled) {
  EngineLock lock;
  const GraphExec* found = live<GraphExec>(exec);
  GraphNode* in_exec =
      found != nullptr ? node_in_exec(*found, reinterpret_cast<GraphNode*>(node)) : nullptr;
  if (in_exec == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  in_exec->enabled = enabled != 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned* enabled) {
  EngineLock lock;
  const GraphExec* found = live<GraphExec>(exec);
  const GraphNode* in_exec =
      found != nullptr ? node_in_exec(*found, reinterpret_cast<GraphNode*>(node)) : nullptr;
  if (in_exec == nullptr || enabled == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *enabled = in_exec->enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream_handle, CUstreamCaptureMode mode) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : begin_capture(*stream, mode, nullptr, {});
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream_handle, CUgraph graph,
                                     const CUgraphNode* nodes, const CUgraphEdgeData*, size_t count,
                                     CUstreamCaptureMode mode) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  Graph* into = live<Graph>(graph);
  std::vector<GraphNode*> dependencies;
  if (stream == nullptr || into == nullptr || !nodes_of(into, nodes, count, &dependencies)) {
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
  }
  return begin_capture(*stream, mode, into, std::move(dependencies));
}

CUresult cuStreamEndCapture(CUstream stream_handle, CUgraph* graph) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || graph == nullptr) {
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
  }
  Graph* captured = nullptr;
  const CUresult result = end_capture(*stream, &captured);
  *graph = handle<CUgraph>(captured);
  return result;
}

CUresult cuStreamIsCapturing(CUstream stream_handle, CUstreamCaptureStatus* status) {
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || status == nullptr) {
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
  }
  *status = stream->capture == nullptr     ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                           : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream_handle, CUstreamCaptureStatus* status,
                                   cuuint64_t* id, CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** data, size_t* count) {
  const CUresult result = driver::cuStreamIsCapturing(stream_handle, status);
  EngineLock lock;
  const Stream* stream = stream_of(stream_handle);
  if (result != CUDA_SUCCESS || stream->capture == nullptr) {
    return result;
  }
  if (id != nullptr) {
    *id = stream->capture->id;
  }
  if (graph != nullptr) {
    *graph = handle<CUgraph>(stream->capture->graph);
  }
  if (nodes != nullptr) {
    *nodes = reinterpret_cast<const CUgraphNode*>(stream->capture_tail.data());
  }
  if (data != nullptr) {
    *data = nullptr;
  }
  if (count != nullptr) {
    *count = stream->capture_tail.size();
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream_handle, CUgraphNode* nodes,
                                              const CUgraphEdgeData*, size_t count,
                                              unsigned flags) {
  EngineLock lock;
  Stream* stream = stream_of(stream_handle);
  if (stream == nullptr || stream->capture == nullptr) {
    return stream == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_ILLEGAL_STATE;
  }
  std::vector<GraphNode*> tail;
  if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES) {
    tail = stream->capture_tail;
  }
  if (!nodes_of(stream->capture->graph, nodes, count, &tail)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  stream->capture_tail = std::move(tail);
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}

}  // namespace gprofml::simgpu::driver
