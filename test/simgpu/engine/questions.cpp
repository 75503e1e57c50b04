// What an observer may ask (observer.hpp), answered from the engine's objects.
#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu {

std::vector<DeviceInfo> devices() {
  std::vector<DeviceInfo> result;
  const EngineLock lock;
  for (const Device& device : process_devices()) {
    DeviceInfo info;
    info.ordinal = device.ordinal;
    info.handle = static_cast<CUdevice>(device.ordinal);
    info.name = device.model.name;
    std::copy(device.model.uuid.begin(), device.model.uuid.end(), info.uuid);
    info.memory_bytes = device.model.memory_bytes;
    info.multiprocessors = static_cast<std::uint32_t>(device.model.multiprocessors);
    info.compute_major = static_cast<std::uint32_t>(device.model.compute_major);
    info.compute_minor = static_cast<std::uint32_t>(device.model.compute_minor);
    info.clock_khz = static_cast<std::uint32_t>(device.model.clock_khz);
    result.push_back(std::move(info));
  }
  return result;
}

std::vector<ContextInfo> contexts() {
  std::vector<ContextInfo> result;
  const EngineLock lock;
  for (const Context* context : live_contexts()) {
    result.push_back(info_of(*context));
  }
  return result;
}

std::vector<StreamInfo> streams() {
  std::vector<StreamInfo> result;
  const EngineLock lock;
  for (const Context* context : live_contexts()) {
    for (const Stream* stream : context->streams) {
      result.push_back(info_of(*stream));
    }
  }
  return result;
}

std::uint32_t context_id_of(CUcontext context) {
  const EngineLock lock;
  const Context* found = context != nullptr ? live<Context>(context) : current_context();
  return found != nullptr ? found->id : 0;
}

std::uint32_t stream_id_of(CUcontext context, CUstream stream, bool per_thread_default) {
  const EngineLock lock;
  Context* found = context != nullptr ? live<Context>(context) : current_context();
  const Stream* of = find_stream(found, stream, per_thread_default);
  return of != nullptr ? of->id : 0;
}

std::uint32_t graph_id_of(CUgraph graph) {
  const EngineLock lock;
  const Graph* found = live<Graph>(graph);
  return found != nullptr ? found->id : 0;
}

std::uint32_t graph_exec_id_of(CUgraphExec graph_exec) {
  const EngineLock lock;
  const GraphExec* found = live<GraphExec>(graph_exec);
  return found != nullptr ? found->clone->id : 0;
}

std::uint64_t graph_node_id_of(CUgraphNode node) {
  const EngineLock lock;
  const GraphNode* found = live<GraphNode>(node);
  return found != nullptr ? found->id : 0;
}

OverheadCosts overhead_costs() {
  return {model().buffer_request_ns, model().buffer_flush_ns};
}

void spend(std::int64_t cost_ns) {
  wait_until(now_ns() + cost_ns);
}

const char* fault(const char* name) {
  const auto found = model().faults.find(name);
  return found != model().faults.end() ? found->second.c_str() : nullptr;
}

}  // namespace gprofml::simgpu
