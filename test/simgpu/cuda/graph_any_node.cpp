// Graph nodes of any kind by one call: each goes the way of the call for its kind.
#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/graph.hpp"

namespace gprofml::simgpu::driver {
namespace {

// The two descriptions of a node differ by the context at their end or name alone.
CUDA_KERNEL_NODE_PARAMS kernel_of(const CUDA_KERNEL_NODE_PARAMS_v3& p) {
  CUDA_KERNEL_NODE_PARAMS result{};
  result.func = p.func;
  result.gridDimX = p.gridDimX;
  result.gridDimY = p.gridDimY;
  result.gridDimZ = p.gridDimZ;
  result.blockDimX = p.blockDimX;
  result.blockDimY = p.blockDimY;
  result.blockDimZ = p.blockDimZ;
  result.sharedMemBytes = p.sharedMemBytes;
  result.kernelParams = p.kernelParams;
  result.extra = p.extra;
  result.kern = p.kern;
  result.ctx = p.ctx;
  return result;
}

CUDA_MEMSET_NODE_PARAMS fill_of(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  CUDA_MEMSET_NODE_PARAMS result{};
  result.dst = p.dst;
  result.pitch = p.pitch;
  result.value = p.value;
  result.elementSize = p.elementSize;
  result.width = p.width;
  result.height = p.height;
  return result;
}

CUDA_HOST_NODE_PARAMS host_of(const CUDA_HOST_NODE_PARAMS_v2& p) {
  CUDA_HOST_NODE_PARAMS result{};
  result.fn = p.fn;
  result.userData = p.userData;
  return result;
}

CUresult add_allocation(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                        size_t count, CUDA_MEM_ALLOC_NODE_PARAMS_v2& p) {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  parameters.poolProps = p.poolProps;
  parameters.accessDescs = p.accessDescs;
  parameters.accessDescCount = p.accessDescCount;
  parameters.bytesize = p.bytesize;
  const CUresult result =
      driver::cuGraphAddMemAllocNode(node, graph, dependencies, count, &parameters);
  p.dptr = parameters.dptr;
  return result;
}

}  // namespace

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* from,
                           const CUgraphEdgeData*, size_t count, CUgraphNodeParams* p) {
  if (p == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(p->kernel);
      return driver::cuGraphAddKernelNode_v2(node, graph, from, count, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return driver::cuGraphAddMemcpyNode(node, graph, from, count, &p->memcpy.copyParams,
                                          p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS fill = fill_of(p->memset);
      return driver::cuGraphAddMemsetNode(node, graph, from, count, &fill, p->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = host_of(p->host);
      return driver::cuGraphAddHostNode(node, graph, from, count, &host);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return driver::cuGraphAddChildGraphNode(node, graph, from, count, p->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return driver::cuGraphAddEmptyNode(node, graph, from, count);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return driver::cuGraphAddEventWaitNode(node, graph, from, count, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return driver::cuGraphAddEventRecordNode(node, graph, from, count, p->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return add_allocation(node, graph, from, count, p->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return driver::cuGraphAddMemFreeNode(node, graph, from, count, p->free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return add_conditional_node(node, graph, from, count, &p->conditional);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;  // semaphores, batches of memory operations
  }
}

CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(p->kernel);
      return driver::cuGraphKernelNodeSetParams_v2(node, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return driver::cuGraphMemcpyNodeSetParams(node, &p->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS fill = fill_of(p->memset);
      return driver::cuGraphMemsetNodeSetParams(node, &fill);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = host_of(p->host);
      return driver::cuGraphHostNodeSetParams(node, &host);
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return driver::cuGraphEventWaitNodeSetEvent(node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return driver::cuGraphEventRecordNodeSetEvent(node, p->eventRecord.event);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraphNodeParams* p) {
  if (p == nullptr) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: {
      const CUDA_KERNEL_NODE_PARAMS kernel = kernel_of(p->kernel);
      return driver::cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel);
    }
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return driver::cuGraphExecMemcpyNodeSetParams(exec, node, &p->memcpy.copyParams,
                                                    p->memcpy.copyCtx);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const CUDA_MEMSET_NODE_PARAMS fill = fill_of(p->memset);
      return driver::cuGraphExecMemsetNodeSetParams(exec, node, &fill, p->memset.ctx);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS host = host_of(p->host);
      return driver::cuGraphExecHostNodeSetParams(exec, node, &host);
    }
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return driver::cuGraphExecEventWaitNodeSetEvent(exec, node, p->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return driver::cuGraphExecEventRecordNodeSetEvent(exec, node, p->eventRecord.event);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

}  // namespace gprofml::simgpu::driver
