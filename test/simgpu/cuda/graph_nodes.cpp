// Nodes of single kinds: added, asked about, given other parameters.
#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/copy.hpp"
#include "test/simgpu/cuda/graph.hpp"
#include "test/simgpu/cuda/graph_operations.hpp"
#include "test/simgpu/cuda/launch.hpp"
#include "test/simgpu/cuda/memory.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {

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

}  // namespace gprofml::simgpu::driver
