// Stream captures: work that becomes nodes of a graph instead of running.
#include <algorithm>
#include <memory>

#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/graph.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu {
namespace {

std::vector<std::shared_ptr<Capture>>& captures() {
  static auto* all = new std::vector<std::shared_ptr<Capture>>;
  return *all;
}

void leave_capture(const std::shared_ptr<Capture>& capture) {
  for (Stream* stream : capture->streams) {
    stream->capture.reset();
    stream->capture_tail.clear();
  }
  capture->streams.clear();
  std::vector<std::shared_ptr<Capture>>& all = captures();
  all.erase(std::remove(all.begin(), all.end(), capture), all.end());
}

}  // namespace

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, Graph* into,
                       std::vector<GraphNode*> dependencies) {
  static std::uint64_t count = 0;
  if (stream.flag == StreamInfo::Flag::null_stream) {
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (stream.capture != nullptr) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  auto made = std::make_shared<Capture>();
  made->graph = into != nullptr ? into : make_graph();
  made->to_existing_graph = into != nullptr;
  made->origin = &stream;
  made->mode = mode;
  made->id = ++count;
  made->thread = this_thread().ordinal;
  made->streams.insert(&stream);
  stream.capture = made;
  stream.capture_tail = std::move(dependencies);
  captures().push_back(made);
  return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, Graph** graph) {
  const std::shared_ptr<Capture> capture = stream.capture;
  *graph = nullptr;
  if (capture == nullptr) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  if (capture->origin != &stream) {
    return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != this_thread().ordinal) {
    return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
  }
  CUresult result = CUDA_SUCCESS;
  for (const Stream* other : capture->streams) {
    for (const GraphNode* tail : other->capture_tail) {
      const bool has_joined =
          std::any_of(stream.capture_tail.begin(), stream.capture_tail.end(),
                      [tail](const GraphNode* node) { return depends_on(node, tail); });
      if (!has_joined) {
        result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
      }
    }
  }
  if (capture->invalidated) {
    result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  leave_capture(capture);
  if (result == CUDA_SUCCESS) {
    *graph = capture->graph;
  } else if (!capture->to_existing_graph) {
    destroy_graph(capture->graph);
  }
  return result;
}

CUresult capture(Stream& stream, Operation operation) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture->invalidated) {
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
  if (operation.kind == Operation::Kind::kernel) {
    load_function(*stream.context, *operation.function);
  }
  if (operation.child != nullptr) {
    operation.child = clone_graph(*operation.child);
  }
  stream.capture_tail = {
      add_node(*capture->graph, std::move(operation), stream.capture_tail, nullptr)};
  return CUDA_SUCCESS;
}

void capture_event_record(Stream& stream, Event& event) {
  event.capture = stream.capture;
  event.capture_nodes = stream.capture_tail;
  event.recorded = false;
}

CUresult capture_event_wait(Stream& stream, const Event& event) {
  if (event.capture == nullptr) {
    // Work outside of the capture cannot become a dependency of a node.
    if (event.recorded) {
      stream.capture->invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    return CUDA_SUCCESS;
  }
  if (stream.capture == nullptr) {
    if (stream.flag == StreamInfo::Flag::null_stream) {
      event.capture->invalidated = true;
      return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    stream.capture = event.capture;
    stream.capture_tail.clear();
    event.capture->streams.insert(&stream);
  } else if (stream.capture != event.capture) {
    stream.capture->invalidated = true;
    event.capture->invalidated = true;
    return CUDA_ERROR_STREAM_CAPTURE_MERGE;
  }
  for (GraphNode* node : event.capture_nodes) {
    std::vector<GraphNode*>& tail = stream.capture_tail;
    if (std::find(tail.begin(), tail.end(), node) == tail.end()) {
      tail.push_back(node);
    }
  }
  return CUDA_SUCCESS;
}

bool capture_forbids(const Stream& stream) {
  if (stream.flag != StreamInfo::Flag::null_stream) {
    return false;
  }
  bool forbidden = false;
  for (const std::shared_ptr<Capture>& capture : captures()) {
    for (const Stream* captured : capture->streams) {
      if (captured->context == stream.context && captured->flag != StreamInfo::Flag::non_blocking) {
        capture->invalidated = true;
        forbidden = true;
      }
    }
  }
  return forbidden;
}

bool capture_forbids_unsafe_call() {
  bool forbidden = false;
  for (const std::shared_ptr<Capture>& capture : captures()) {
    const bool concerns_this_thread = capture->thread == this_thread().ordinal;
    if (capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        (capture->mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL && concerns_this_thread)) {
      capture->invalidated = true;
      forbidden = true;
    }
  }
  return forbidden;
}

std::size_t captures_in_progress() {
  return captures().size();
}

}  // namespace gprofml::simgpu
