// Executable graphs: made, updated, launched, destroyed.
#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/copy.hpp"
#include "test/simgpu/cuda/graph.hpp"
#include "test/simgpu/cuda/graph_operations.hpp"
#include "test/simgpu/cuda/launch.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {

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

}  // namespace gprofml::simgpu::driver
