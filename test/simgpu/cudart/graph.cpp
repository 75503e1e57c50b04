// Graphs and stream capture.
#include <cstring>
#include <vector>

#include "test/simgpu/cudart/common.hpp"
#include "test/simgpu/cudart/copy.hpp"

namespace gprofml::simgpu::runtime {
namespace {

static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUlaunchAttributeValue));

const CUgraphEdgeData* edges(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}
CUgraphEdgeData* edges(cudaGraphEdgeData* data) {
  return reinterpret_cast<CUgraphEdgeData*>(data);
}

CUcontext context() {
  CUcontext current = nullptr;
  cuCtxGetCurrent(&current);
  return current;
}

cudaError_t kernel_parameters(const cudaKernelNodeParams* p, CUDA_KERNEL_NODE_PARAMS* result) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  *result = {};
  result->func = kernel_of(p->func);
  result->gridDimX = p->gridDim.x;
  result->gridDimY = p->gridDim.y;
  result->gridDimZ = p->gridDim.z;
  result->blockDimX = p->blockDim.x;
  result->blockDimY = p->blockDim.y;
  result->blockDimZ = p->blockDim.z;
  result->sharedMemBytes = p->sharedMemBytes;
  result->kernelParams = p->kernelParams;
  result->extra = p->extra;
  return result->func != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

CUDA_MEMSET_NODE_PARAMS fill_parameters(const cudaMemsetParams& p) {
  CUDA_MEMSET_NODE_PARAMS result{};
  result.dst = reinterpret_cast<CUdeviceptr>(p.dst);
  result.pitch = p.pitch;
  result.value = p.value;
  result.elementSize = p.elementSize;
  result.width = p.width;
  result.height = p.height;
  return result;
}

CUDA_HOST_NODE_PARAMS host_parameters(const cudaHostNodeParams& p) {
  CUDA_HOST_NODE_PARAMS result{};
  result.fn = p.fn;
  result.userData = p.userData;
  return result;
}

/// A node of any kind in the driver's terms.
cudaError_t any_parameters(const cudaGraphNodeParams* p, CUgraphNodeParams* result) {
  if (p == nullptr) {
    return cudaErrorInvalidValue;
  }
  *result = {};
  result->type = static_cast<CUgraphNodeType>(p->type);
  switch (p->type) {
    case cudaGraphNodeTypeKernel: {
      CUDA_KERNEL_NODE_PARAMS_v3& kernel = result->kernel;
      kernel.func = kernel_of(p->kernel.func);
      kernel.gridDimX = p->kernel.gridDim.x;
      kernel.gridDimY = p->kernel.gridDim.y;
      kernel.gridDimZ = p->kernel.gridDim.z;
      kernel.blockDimX = p->kernel.blockDim.x;
      kernel.blockDimY = p->kernel.blockDim.y;
      kernel.blockDimZ = p->kernel.blockDim.z;
      kernel.sharedMemBytes = p->kernel.sharedMemBytes;
      kernel.kernelParams = p->kernel.kernelParams;
      kernel.extra = p->kernel.extra;
      return kernel.func != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    }
    case cudaGraphNodeTypeMemcpy:
      result->memcpy.copyParams = box_3d(p->memcpy.copyParams);
      result->memcpy.copyCtx = context();
      return cudaSuccess;
    case cudaGraphNodeTypeMemset:
      result->memset.dst = reinterpret_cast<CUdeviceptr>(p->memset.dst);
      result->memset.pitch = p->memset.pitch;
      result->memset.value = p->memset.value;
      result->memset.elementSize = p->memset.elementSize;
      result->memset.width = p->memset.width;
      result->memset.height = p->memset.height;
      result->memset.ctx = context();
      return cudaSuccess;
    case cudaGraphNodeTypeHost:
      result->host.fn = p->host.fn;
      result->host.userData = p->host.userData;
      return cudaSuccess;
    case cudaGraphNodeTypeGraph:
      result->graph.graph = p->graph.graph;
      return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
      return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
      result->eventWait.event = p->eventWait.event;
      return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
      result->eventRecord.event = p->eventRecord.event;
      return cudaSuccess;
    case cudaGraphNodeTypeMemAlloc:
      static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
      std::memcpy(&result->alloc.poolProps, &p->alloc.poolProps, sizeof(CUmemPoolProps));
      result->alloc.bytesize = p->alloc.bytesize;
      return cudaSuccess;
    case cudaGraphNodeTypeMemFree:
      result->free.dptr = reinterpret_cast<CUdeviceptr>(p->free.dptr);
      return cudaSuccess;
    case cudaGraphNodeTypeConditional:
      result->conditional.handle = p->conditional.handle;
      result->conditional.type = static_cast<CUgraphConditionalNodeType>(p->conditional.type);
      result->conditional.size = p->conditional.size;
      result->conditional.ctx = context();
      return cudaSuccess;
    default:
      return cudaErrorNotSupported;
  }
}

/// Adds a copy node where the kind fits the pointers.
cudaError_t add_copy(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                     std::size_t count, const CUDA_MEMCPY3D& box) {
  return error_of(cuGraphAddMemcpyNode(node, graph, dependencies, count, &box, context()));
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  const cudaError_t ready = need_driver();
  return ready == cudaSuccess ? error_of(cuGraphCreate(graph, flags)) : ready;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return error_of(cuGraphDestroy(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t original) {
  return error_of(cuGraphClone(clone, original));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const struct cudaKernelNodeParams* parameters) {
  return with_context([&] {
    CUDA_KERNEL_NODE_PARAMS driver_parameters;
    const cudaError_t made = kernel_parameters(parameters, &driver_parameters);
    return made == cudaSuccess
               ? cuGraphAddKernelNode(node, graph, dependencies, count, &driver_parameters)
               : static_cast<CUresult>(made);
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaKernelNodeParams* parameters) {
  CUDA_KERNEL_NODE_PARAMS driver_parameters;
  const cudaError_t made = kernel_parameters(parameters, &driver_parameters);
  return made == cudaSuccess ? error_of(cuGraphKernelNodeSetParams(node, &driver_parameters))
                             : made;
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         struct cudaKernelNodeParams* parameters) {
  CUDA_KERNEL_NODE_PARAMS p;
  const CUresult result = cuGraphKernelNodeGetParams(node, &p);
  if (result == CUDA_SUCCESS) {
    *parameters = {};
    parameters->func = p.func;
    parameters->gridDim = dim3(p.gridDimX, p.gridDimY, p.gridDimZ);
    parameters->blockDim = dim3(p.blockDimX, p.blockDimY, p.blockDimZ);
    parameters->sharedMemBytes = p.sharedMemBytes;
    parameters->kernelParams = p.kernelParams;
    parameters->extra = p.extra;
  }
  return error_of(result);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaKernelNodeParams* parameters) {
  CUDA_KERNEL_NODE_PARAMS driver_parameters;
  const cudaError_t made = kernel_parameters(parameters, &driver_parameters);
  return made == cudaSuccess
             ? error_of(cuGraphExecKernelNodeSetParams(exec, node, &driver_parameters))
             : made;
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const struct cudaMemcpy3DParms* parameters) {
  const cudaError_t ready = need_context();
  return ready == cudaSuccess && parameters != nullptr
             ? add_copy(node, graph, dependencies, count, box_3d(*parameters))
             : (parameters == nullptr ? cudaErrorInvalidValue : ready);
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     void* target, const void* source, size_t bytes,
                                     enum cudaMemcpyKind kind) {
  const cudaError_t ready = need_context();
  if (ready != cudaSuccess || !fits(kind, target, source)) {
    return ready != cudaSuccess ? ready : cudaErrorInvalidValue;
  }
  return add_copy(node, graph, dependencies, count, box_1d(target, source, bytes, kind));
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemcpy3DParms* parameters) {
  const CUDA_MEMCPY3D box = box_3d(*parameters);
  return error_of(cuGraphMemcpyNodeSetParams(node, &box));
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* target, const void* source,
                                           size_t bytes, enum cudaMemcpyKind kind) {
  const CUDA_MEMCPY3D box = box_1d(target, source, bytes, kind);
  return error_of(cuGraphMemcpyNodeSetParams(node, &box));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemcpy3DParms* parameters) {
  const CUDA_MEMCPY3D box = box_3d(*parameters);
  return error_of(cuGraphExecMemcpyNodeSetParams(exec, node, &box, context()));
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               void* target, const void* source, size_t bytes,
                                               enum cudaMemcpyKind kind) {
  const CUDA_MEMCPY3D box = box_1d(target, source, bytes, kind);
  return error_of(cuGraphExecMemcpyNodeSetParams(exec, node, &box, context()));
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* dependencies, size_t count,
                                   const struct cudaMemsetParams* parameters) {
  return with_context([&] {
    if (parameters == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUDA_MEMSET_NODE_PARAMS driver_parameters = fill_parameters(*parameters);
    return cuGraphAddMemsetNode(node, graph, dependencies, count, &driver_parameters, context());
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                         const struct cudaMemsetParams* parameters) {
  const CUDA_MEMSET_NODE_PARAMS driver_parameters = fill_parameters(*parameters);
  return error_of(cuGraphMemsetNodeSetParams(node, &driver_parameters));
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                         struct cudaMemsetParams* parameters) {
  CUDA_MEMSET_NODE_PARAMS p;
  const CUresult result = cuGraphMemsetNodeGetParams(node, &p);
  if (result == CUDA_SUCCESS) {
    *parameters = {};
    parameters->dst = reinterpret_cast<void*>(p.dst);
    parameters->pitch = p.pitch;
    parameters->value = p.value;
    parameters->elementSize = p.elementSize;
    parameters->width = p.width;
    parameters->height = p.height;
  }
  return error_of(result);
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const struct cudaMemsetParams* parameters) {
  const CUDA_MEMSET_NODE_PARAMS driver_parameters = fill_parameters(*parameters);
  return error_of(cuGraphExecMemsetNodeSetParams(exec, node, &driver_parameters, context()));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* dependencies, size_t count,
                                 const struct cudaHostNodeParams* parameters) {
  if (parameters == nullptr) {
    return cudaErrorInvalidValue;
  }
  const CUDA_HOST_NODE_PARAMS driver_parameters = host_parameters(*parameters);
  return error_of(cuGraphAddHostNode(node, graph, dependencies, count, &driver_parameters));
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                       const struct cudaHostNodeParams* parameters) {
  const CUDA_HOST_NODE_PARAMS driver_parameters = host_parameters(*parameters);
  return error_of(cuGraphHostNodeSetParams(node, &driver_parameters));
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                       struct cudaHostNodeParams* parameters) {
  CUDA_HOST_NODE_PARAMS p;
  const CUresult result = cuGraphHostNodeGetParams(node, &p);
  if (result == CUDA_SUCCESS) {
    *parameters = {};
    parameters->fn = p.fn;
    parameters->userData = p.userData;
  }
  return error_of(result);
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           const struct cudaHostNodeParams* parameters) {
  const CUDA_HOST_NODE_PARAMS driver_parameters = host_parameters(*parameters);
  return error_of(cuGraphExecHostNodeSetParams(exec, node, &driver_parameters));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* dependencies, size_t count) {
  return error_of(cuGraphAddEmptyNode(node, graph, dependencies, count));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* dependencies, size_t count,
                                        cudaEvent_t event) {
  return error_of(cuGraphAddEventRecordNode(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* dependencies, size_t count,
                                      cudaEvent_t event) {
  return error_of(cuGraphAddEventWaitNode(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return error_of(cuGraphExecEventRecordNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return error_of(cuGraphExecEventWaitNodeSetEvent(exec, node, event));
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return error_of(cuGraphEventRecordNodeSetEvent(node, event));
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return error_of(cuGraphEventWaitNodeSetEvent(node, event));
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned value, unsigned flags) {
  static_assert(sizeof *handle == sizeof(CUgraphConditionalHandle));
  return with_context([&] {
    return cuGraphConditionalHandleCreate(reinterpret_cast<CUgraphConditionalHandle*>(handle),
                                          graph, context(), value, flags);
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                             const cudaGraphNode_t* dependencies, const cudaGraphEdgeData* data,
                             size_t count, struct cudaGraphNodeParams* parameters) {
  return with_context([&] {
    CUgraphNodeParams driver_parameters;
    const cudaError_t made = any_parameters(parameters, &driver_parameters);
    if (made != cudaSuccess) {
      return static_cast<CUresult>(made);
    }
    const CUresult result =
        cuGraphAddNode(node, graph, dependencies, edges(data), count, &driver_parameters);
    if (parameters->type == cudaGraphNodeTypeMemAlloc) {
      parameters->alloc.dptr = reinterpret_cast<void*>(driver_parameters.alloc.dptr);
    } else if (parameters->type == cudaGraphNodeTypeConditional) {
      parameters->conditional.phGraph_out = driver_parameters.conditional.phGraph_out;
    }
    return result;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams* parameters) {
  CUgraphNodeParams driver_parameters;
  const cudaError_t made = any_parameters(parameters, &driver_parameters);
  return made == cudaSuccess ? error_of(cuGraphNodeSetParams(node, &driver_parameters)) : made;
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                       struct cudaGraphNodeParams* parameters) {
  CUgraphNodeParams driver_parameters;
  const cudaError_t made = any_parameters(parameters, &driver_parameters);
  return made == cudaSuccess ? error_of(cuGraphExecNodeSetParams(exec, node, &driver_parameters))
                             : made;
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* dependencies, size_t count,
                                     struct cudaMemAllocNodeParams* parameters) {
  return with_context([&] {
    if (parameters == nullptr) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    CUDA_MEM_ALLOC_NODE_PARAMS driver_parameters{};
    std::memcpy(&driver_parameters.poolProps, &parameters->poolProps, sizeof(CUmemPoolProps));
    driver_parameters.bytesize = parameters->bytesize;
    const CUresult result =
        cuGraphAddMemAllocNode(node, graph, dependencies, count, &driver_parameters);
    parameters->dptr = reinterpret_cast<void*>(driver_parameters.dptr);
    return result;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* dependencies, size_t count,
                                    void* pointer) {
  return error_of(cuGraphAddMemFreeNode(node, graph, dependencies, count,
                                        reinterpret_cast<CUdeviceptr>(pointer)));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                           struct cudaMemAllocNodeParams* parameters) {
  CUDA_MEM_ALLOC_NODE_PARAMS p;
  const CUresult result = cuGraphMemAllocNodeGetParams(node, &p);
  if (result == CUDA_SUCCESS) {
    *parameters = {};
    std::memcpy(&parameters->poolProps, &p.poolProps, sizeof(CUmemPoolProps));
    parameters->bytesize = p.bytesize;
    parameters->dptr = reinterpret_cast<void*>(p.dptr);
  }
  return error_of(result);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* dependencies, size_t count,
                                       cudaGraph_t child) {
  return error_of(cuGraphAddChildGraphNode(node, graph, dependencies, count, child));
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return error_of(cuGraphChildGraphNodeGetGraph(node, graph));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* pointer) {
  return error_of(cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(pointer)));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType* type) {
  CUgraphNodeType driver_type{};
  const CUresult result = cuGraphNodeGetType(node, &driver_type);
  if (result == CUDA_SUCCESS) {
    *type = static_cast<cudaGraphNodeType>(driver_type);
  }
  return error_of(result);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return error_of(cuGraphGetNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return error_of(cuGraphGetRootNodes(graph, nodes, count));
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return error_of(cuGraphGetEdges(graph, from, to, edges(data), count));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, size_t* count) {
  return error_of(cuGraphNodeGetDependencies(node, nodes, edges(data), count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, size_t* count) {
  return error_of(cuGraphNodeGetDependentNodes(node, nodes, edges(data), count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  return error_of(cuGraphAddDependencies(graph, from, to, edges(data), count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                        size_t count) {
  return error_of(cuGraphRemoveDependencies(graph, from, to, edges(data), count));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return error_of(cuGraphDestroyNode(node));
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return error_of(cuGraphNodeFindInClone(node, original, clone));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return with_context([&] { return cuGraphInstantiateWithFlags(exec, graph, flags); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long flags) {
  return runtime::cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  const cudaError_t result = runtime::cudaGraphInstantiateWithFlags(exec, graph, parameters->flags);
  parameters->result_out =
      result == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
  parameters->errNode_out = nullptr;
  return result;
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  cuuint64_t value = 0;
  const CUresult result = cuGraphExecGetFlags(exec, &value);
  *flags = value;
  return error_of(result);
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return with_context([&] { return cuGraphUpload(exec, stream_of(stream)); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return with_context([&] { return cuGraphLaunch(exec, stream_of(stream)); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return error_of(cuGraphExecDestroy(exec));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  CUgraphExecUpdateResultInfo driver_info{};
  const CUresult result = cuGraphExecUpdate(exec, graph, &driver_info);
  if (info != nullptr) {
    info->result = static_cast<cudaGraphExecUpdateResult>(driver_info.result);
    info->errorNode = driver_info.errorNode;
    info->errorFromNode = driver_info.errorFromNode;
  }
  return error_of(result);
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled) {
  return error_of(cuGraphNodeSetEnabled(exec, node, enabled));
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled) {
  return error_of(cuGraphNodeGetEnabled(exec, node, enabled));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode) {
  return with_context([&] {
    return cuStreamBeginCapture(stream_of(stream), static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* nodes,
                                          const cudaGraphEdgeData* data, size_t count,
                                          enum cudaStreamCaptureMode mode) {
  return with_context([&] {
    return cuStreamBeginCaptureToGraph(stream_of(stream), graph, nodes, edges(data), count,
                                       static_cast<CUstreamCaptureMode>(mode));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return with_context([&] { return cuStreamEndCapture(stream_of(stream), graph); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus* status) {
  return with_context([&] {
    return cuStreamIsCapturing(stream_of(stream), reinterpret_cast<CUstreamCaptureStatus*>(status));
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** nodes, const cudaGraphEdgeData** data,
                                     size_t* count) {
  return with_context([&] {
    return cuStreamGetCaptureInfo(stream_of(stream),
                                  reinterpret_cast<CUstreamCaptureStatus*>(status),
                                  reinterpret_cast<cuuint64_t*>(id), graph, nodes,
                                  reinterpret_cast<const CUgraphEdgeData**>(data), count);
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData* data, size_t count,
                                                unsigned flags) {
  return with_context([&] {
    return cuStreamUpdateCaptureDependencies(stream_of(stream), nodes, edges(data), count, flags);
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode* mode) {
  return error_of(cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

}  // namespace gprofml::simgpu::runtime
