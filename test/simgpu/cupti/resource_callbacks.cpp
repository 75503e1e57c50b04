#include "test/simgpu/cupti/resource_callbacks.hpp"

#include <cupti.h>

#include "test/simgpu/cupti/subscribers.hpp"
#include "test/simgpu/cupti/translation.hpp"

namespace gprofml::simgpu::cupti {
namespace {

CUcontext context_of(std::uint32_t id) {
  for (const ContextInfo& context : contexts()) {
    if (context.id == id) return context.handle;
  }
  return nullptr;
}

CUstream stream_of(std::uint32_t context_id, std::uint32_t id) {
  for (const StreamInfo& stream : streams()) {
    if (stream.context_id == context_id && stream.id == id) return stream.handle;
  }
  return nullptr;
}

CUcontext context_of(const ResourceEvent& event) {
  if (event.context != nullptr) return event.context->handle;
  if (event.stream != nullptr) return context_of(event.stream->context_id);
  return event.call != nullptr ? event.call->context : nullptr;
}

CUpti_GraphData graph_data(const ResourceEvent& event) {
  CUpti_GraphData data{};
  data.graph = event.graph;
  data.originalGraph = event.original_graph;
  data.node = event.node;
  data.originalNode = event.original_node;
  data.nodeType = event.node_type;
  data.dependency = event.dependency;
  data.graphExec = event.graph_exec;
  return data;
}

bool is_about_module(ResourceEvent::What what) {
  return what == ResourceEvent::What::module_loaded ||
         what == ResourceEvent::What::module_unload_starting;
}

bool is_about_graph(ResourceEvent::What what) {
  return what >= ResourceEvent::What::graph_created;
}

}  // namespace

void call_back_resource(const ResourceEvent& event) {
  const CUpti_CallbackIdResource id = resource_callback(event.what);
  if (!wants_callback(CUPTI_CB_DOMAIN_RESOURCE, id)) return;
  CUpti_ModuleResourceData module{event.module_id, 0, nullptr};
  CUpti_GraphData graph = graph_data(event);
  CUpti_ResourceData data{};
  data.context = context_of(event);
  if (event.stream != nullptr) data.resourceHandle.stream = event.stream->handle;
  if (is_about_module(event.what)) data.resourceDescriptor = &module;
  if (is_about_graph(event.what)) data.resourceDescriptor = &graph;
  call_back(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void call_back_synchronised(const Sync& sync) {
  const bool of_stream = sync.type == Sync::Type::stream;
  if (!of_stream && sync.type != Sync::Type::context) return;
  const auto id = of_stream ? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
                            : CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;
  if (!wants_callback(CUPTI_CB_DOMAIN_SYNCHRONIZE, id)) return;
  CUpti_SynchronizeData data{};
  data.context = context_of(sync.context_id);
  if (of_stream) data.stream = stream_of(sync.context_id, sync.stream_id);
  call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, id, &data);
}

}  // namespace gprofml::simgpu::cupti
