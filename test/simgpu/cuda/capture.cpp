// Stream capture.
#include <algorithm>

#include "test/simgpu/cuda/common.hpp"
#include "test/simgpu/cuda/graph_operations.hpp"
#include "test/simgpu/engine/graph.hpp"

namespace gprofml::simgpu::driver {

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
