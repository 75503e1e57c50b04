#include "test/simgpu/cupti/tests/fake_engine.hpp"

namespace gprofml::simgpu {
namespace fake {

Engine& engine() {
  static Engine& instance = *new Engine;
  return instance;
}

void reset_engine() {
  Engine& all = engine();
  all.now_ns = 1'000'000;
  all.is_virtual = true;
  all.is_initialised = true;
  all.faults.clear();
  all.overheads = {};
  all.devices.clear();
  all.contexts.clear();
  all.streams.clear();
  all.graph_ids.clear();
}

namespace {

std::uint64_t graph_id(const void* handle) {
  const auto found = engine().graph_ids.find(handle);
  return found == engine().graph_ids.end() ? 0 : found->second;
}

}  // namespace
}  // namespace fake

void set_observer(Observer* observer) {
  fake::engine().observer = observer;
}
Observer* current_observer() {
  return fake::engine().observer;
}
std::int64_t now_ns() {
  return fake::engine().now_ns;
}
bool finished_by_now(std::int64_t end_ns) {
  return end_ns <= fake::engine().now_ns;
}
bool clock_is_virtual() {
  return fake::engine().is_virtual;
}
std::vector<DeviceInfo> devices() {
  return fake::engine().devices;
}
std::vector<ContextInfo> contexts() {
  return fake::engine().contexts;
}
std::vector<StreamInfo> streams() {
  return fake::engine().streams;
}

std::uint32_t context_id_of(CUcontext handle) {
  for (const ContextInfo& context : fake::engine().contexts) {
    if (context.handle == handle) return context.id;
  }
  return 0;
}

std::uint32_t stream_id_of(CUcontext context, CUstream handle, bool) {
  for (const StreamInfo& stream : fake::engine().streams) {
    const bool fits = context == nullptr || context_id_of(context) == stream.context_id;
    if (stream.handle == handle && fits) return stream.id;
  }
  return 0;
}

std::uint32_t graph_id_of(CUgraph graph) {
  return static_cast<std::uint32_t>(fake::graph_id(graph));
}
std::uint32_t graph_exec_id_of(CUgraphExec graph) {
  return static_cast<std::uint32_t>(fake::graph_id(graph));
}
std::uint64_t graph_node_id_of(CUgraphNode node) {
  return fake::graph_id(node);
}

CUresult initialise() {
  fake::engine().is_initialised = true;
  return CUDA_SUCCESS;
}
bool is_initialised() {
  return fake::engine().is_initialised;
}

OverheadCosts overhead_costs() {
  return fake::engine().overheads;
}
void spend(std::int64_t cost_ns) {
  fake::engine().now_ns += cost_ns;
}

const char* fault(const char* name) {
  const auto found = fake::engine().faults.find(name);
  return found == fake::engine().faults.end() ? nullptr : found->second.c_str();
}

}  // namespace gprofml::simgpu
