// Subscribers: what they are called back for, and with what.
#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

namespace {

/// Keeps what it is called back with.
struct Listener {
  struct Heard {
    CUpti_CallbackDomain domain;
    CUpti_CallbackId id;
    CUpti_CallbackData call;
    CUpti_ResourceData resource;
  };
  CUpti_SubscriberHandle handle = nullptr;
  std::vector<Heard> heard;
  std::function<void(const Heard&, const void*)> also;

  static void listen(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                     const void* data) {
    Heard now{domain, id, {}, {}};
    const bool is_call =
        domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (is_call) now.call = *static_cast<const CUpti_CallbackData*>(data);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
      now.resource = *static_cast<const CUpti_ResourceData*>(data);
    }
    auto& own = *static_cast<Listener*>(self);
    own.heard.push_back(now);
    if (own.also) own.also(now, data);
  }

  void subscribe() { check(cuptiSubscribe(&handle, listen, this)); }
  void enable_calls() {
    check(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API));
    check(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
  }
};

constexpr auto kLaunch = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
constexpr auto kDriverLaunch = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;

ApiCall driver_launch(std::uint32_t correlation) {
  ApiCall call = launch_call(correlation);
  call.domain = ApiCall::Domain::driver;
  call.callback_id = kDriverLaunch;
  call.name = "cuLaunchKernel";
  return call;
}

CUpti_SubscriberParams parameters(const char* name, char* old_name, std::size_t old_size) {
  CUpti_SubscriberParams made{};
  made.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  made.subscriberName = name;
  made.oldSubscriberName = old_name;
  made.oldSubscriberSize = old_size;
  return made;
}

}  // namespace

TEST_CASE("there is one subscriber, and the next one learns its name") {
  Session session;
  CUpti_SubscriberHandle first = nullptr;
  CUpti_SubscriberHandle second = nullptr;
  auto named = parameters("gprof-ml", nullptr, 0);
  REQUIRE(cuptiSubscribe_v2(&first, Listener::listen, nullptr, &named) == CUPTI_SUCCESS);
  char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
  auto asking = parameters("other", owner, sizeof owner);
  CHECK(cuptiSubscribe_v2(&second, Listener::listen, nullptr, &asking) ==
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(owner == std::string{"CUPTI for gprof-ml"});
  char little[6];
  asking = parameters("other", little, sizeof little);
  CHECK(cuptiSubscribe_v2(&second, Listener::listen, nullptr, &asking) ==
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(little == std::string{"CUPTI"});
  CHECK(cuptiSubscribe(&second, Listener::listen, nullptr) ==
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  REQUIRE(cuptiUnsubscribe(first) == CUPTI_SUCCESS);
  CHECK(cuptiUnsubscribe(first) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiSubscribe(&second, Listener::listen, nullptr) == CUPTI_SUCCESS);
}

TEST_CASE("a subscription with wrong parameters is refused") {
  Session session;
  CHECK(cuptiSubscribe(nullptr, Listener::listen, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  CUpti_SubscriberHandle handle = nullptr;
  CUpti_SubscriberParams unsized{};
  CHECK(cuptiSubscribe_v2(&handle, Listener::listen, nullptr, &unsized) ==
        CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("the model can refuse the subscription and name who has it") {
  Session session{{{"subscribe", "39"}, {"subscribe_owner", "Nsight Systems"}}};
  char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN];
  auto asking = parameters("gprof-ml", owner, sizeof owner);
  CUpti_SubscriberHandle handle = nullptr;
  CHECK(cuptiSubscribe_v2(&handle, Listener::listen, nullptr, &asking) ==
        CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(owner == std::string{"Nsight Systems"});
  fake::engine().faults["subscribe"] = "15";
  CHECK(cuptiSubscribe(&handle, Listener::listen, nullptr) == CUPTI_ERROR_NOT_INITIALIZED);
}

TEST_CASE("a subscriber hears what it has enabled and nothing else") {
  Session session;
  Listener listener;
  listener.subscribe();
  tell(launch_call(1));
  CHECK(listener.heard.empty());
  check(cuptiEnableCallback(1, listener.handle, CUPTI_CB_DOMAIN_RUNTIME_API, kLaunch));
  std::uint32_t enabled = 0;
  check(cuptiGetCallbackState(&enabled, listener.handle, CUPTI_CB_DOMAIN_RUNTIME_API, kLaunch));
  CHECK(enabled != 0);
  tell(launch_call(2));
  tell(driver_launch(2));
  ApiCall other = launch_call(3);
  other.callback_id = CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020;
  tell(other);
  REQUIRE(listener.heard.size() == 2);
  CHECK(listener.heard[0].call.correlationId == 2);
  CHECK(listener.heard[0].call.callbackSite == CUPTI_API_ENTER);
  CHECK(listener.heard[1].call.callbackSite == CUPTI_API_EXIT);
  check(cuptiEnableCallback(0, listener.handle, CUPTI_CB_DOMAIN_RUNTIME_API, kLaunch));
  check(cuptiEnableDomain(1, listener.handle, CUPTI_CB_DOMAIN_DRIVER_API));
  tell(launch_call(4));
  tell(driver_launch(4));
  CHECK(listener.heard.size() == 4);
  check(cuptiUnsubscribe(listener.handle));
  tell(driver_launch(5));
  CHECK(listener.heard.size() == 4);
}

TEST_CASE("callbacks that do not exist cannot be enabled") {
  Session session;
  Listener listener;
  listener.subscribe();
  const auto enable = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    return cuptiEnableCallback(1, listener.handle, domain, id);
  };
  CHECK(enable(CUPTI_CB_DOMAIN_RUNTIME_API, 0) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(enable(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(enable(CUPTI_CB_DOMAIN_INVALID, 1) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiEnableDomain(1, listener.handle, CUPTI_CB_DOMAIN_SIZE) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiEnableDomain(1, nullptr, CUPTI_CB_DOMAIN_STATE) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiEnableAllDomains(1, listener.handle) == CUPTI_SUCCESS);
}

TEST_CASE("a callback has the call's data, names without the version of the interface") {
  Session session;
  Listener listener;
  listener.subscribe();
  listener.enable_calls();
  int parameter_block = 0;
  ApiCall call = launch_call(7);
  call.parameters = &parameter_block;
  call.symbol = "_Z6kernelv";
  call.context = reinterpret_cast<CUcontext>(0x10);
  call.context_id = 3;
  call.result = 700;
  std::uint32_t result_seen = 0;
  listener.also = [&](const Listener::Heard& now, const void*) {
    if (now.call.callbackSite == CUPTI_API_EXIT) {
      result_seen = *static_cast<const std::uint32_t*>(now.call.functionReturnValue);
    }
  };
  tell(call);
  REQUIRE(listener.heard.size() == 2);
  const CUpti_CallbackData& data = listener.heard[0].call;
  CHECK(data.functionName == std::string{"cudaLaunchKernel"});
  CHECK(data.functionParams == &parameter_block);
  CHECK(data.symbolName == std::string{"_Z6kernelv"});
  CHECK(data.context == call.context);
  CHECK(data.contextUid == 3);
  CHECK(data.correlationId == 7);
  CHECK(result_seen == 700);
}

TEST_CASE("a value left at the entry of a call is there at its exit, also of nested calls") {
  Session session;
  Listener listener;
  listener.subscribe();
  std::uint64_t next = 100;
  std::vector<std::uint64_t> found;
  listener.also = [&](const Listener::Heard& now, const void*) {
    if (now.call.callbackSite == CUPTI_API_ENTER) {
      CHECK(*now.call.correlationData == 0);
      *now.call.correlationData = next++;
    } else {
      found.push_back(*now.call.correlationData);
    }
  };
  listener.enable_calls();
  const ApiCall outer = launch_call(1);
  observer().api_enter(outer);
  tell(driver_launch(1));
  ApiCall second = driver_launch(1);
  second.callback_id = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
  observer().api_enter(second);
  tell(driver_launch(1));
  observer().api_exit(second);
  observer().api_exit(outer);
  CHECK(found == std::vector<std::uint64_t>{101, 103, 102, 100});
}

TEST_CASE("the end of a call that began before CUPTI was there is told") {
  Session session;
  Listener listener;
  listener.subscribe();
  check(cuptiEnableDomain(1, listener.handle, CUPTI_CB_DOMAIN_RUNTIME_API));
  observer().api_exit(launch_call(1));
  REQUIRE(listener.heard.size() == 1);
  CHECK(listener.heard[0].call.correlationData != nullptr);
}

TEST_CASE("a record of a call is written before the subscriber hears of its end") {
  Session session;
  Listener listener;
  listener.subscribe();
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
  check(cuptiEnableDomain(1, listener.handle, CUPTI_CB_DOMAIN_RUNTIME_API));
  std::size_t at_exit = 0;
  listener.also = [&](const Listener::Heard& now, const void*) {
    if (now.call.callbackSite == CUPTI_API_ENTER) return;
    check(cuptiActivityFlushAll(0));
    at_exit = session.records().size();
  };
  tell(launch_call(1));
  CHECK(at_exit == 1);
}

TEST_CASE("resources are told with their handles") {
  Session session;
  Listener listener;
  listener.subscribe();
  check(cuptiEnableDomain(1, listener.handle, CUPTI_CB_DOMAIN_RESOURCE));
  fake::engine().contexts = {{4, reinterpret_cast<CUcontext>(0x40), 0, 7}};
  const ContextInfo& context = fake::engine().contexts[0];
  StreamInfo stream;
  stream.context_id = 4;
  stream.id = 8;
  stream.handle = reinterpret_cast<CUstream>(0x80);
  ApiCall call = launch_call(1);
  call.context = context.handle;

  ResourceEvent event;
  event.call = &call;
  event.context = &context;
  observer().resource(event);
  event = {};
  event.what = ResourceEvent::What::stream_created;
  event.stream = &stream;
  observer().resource(event);
  event = {};
  event.what = ResourceEvent::What::module_loaded;
  event.call = &call;
  event.module_id = 12;
  std::uint32_t module_id = 0;
  listener.also = [&](const Listener::Heard& now, const void*) {
    const auto* module = static_cast<CUpti_ModuleResourceData*>(now.resource.resourceDescriptor);
    module_id = module->moduleId;
  };
  observer().resource(event);

  auto& heard = listener.heard;
  REQUIRE(heard.size() >= 3);
  heard.erase(heard.begin(), heard.end() - 3);  // the first may be "driver initialised"
  CHECK(heard[0].id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  CHECK(heard[0].resource.context == context.handle);
  CHECK(heard[1].id == CUPTI_CBID_RESOURCE_STREAM_CREATED);
  CHECK(heard[1].resource.context == context.handle);
  CHECK(heard[1].resource.resourceHandle.stream == stream.handle);
  CHECK(heard[2].id == CUPTI_CBID_RESOURCE_MODULE_LOADED);
  CHECK(heard[2].resource.context == context.handle);
  CHECK(module_id == 12);
}

TEST_CASE("graphs are told with everything that CUpti_GraphData has") {
  Session session;
  Listener listener;
  listener.subscribe();
  check(cuptiEnableCallback(1, listener.handle, CUPTI_CB_DOMAIN_RESOURCE,
                            CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED));
  CUpti_GraphData seen{};
  listener.also = [&](const Listener::Heard& now, const void*) {
    seen = *static_cast<CUpti_GraphData*>(now.resource.resourceDescriptor);
  };
  const ContextInfo context{4, reinterpret_cast<CUcontext>(0x40), 0, 7};
  ResourceEvent event;
  event.what = ResourceEvent::What::node_cloned;
  event.context = &context;
  event.graph = reinterpret_cast<CUgraph>(0x1);
  event.original_graph = reinterpret_cast<CUgraph>(0x2);
  event.node = reinterpret_cast<CUgraphNode>(0x3);
  event.original_node = reinterpret_cast<CUgraphNode>(0x4);
  event.dependency = reinterpret_cast<CUgraphNode>(0x5);
  event.node_type = CU_GRAPH_NODE_TYPE_KERNEL;
  event.graph_exec = reinterpret_cast<CUgraphExec>(0x6);
  observer().resource(event);
  REQUIRE(listener.heard.size() == 1);
  CHECK(seen.graph == event.graph);
  CHECK(seen.originalGraph == event.original_graph);
  CHECK(seen.node == event.node);
  CHECK(seen.originalNode == event.original_node);
  CHECK(seen.dependency == event.dependency);
  CHECK(seen.nodeType == CU_GRAPH_NODE_TYPE_KERNEL);
  CHECK(seen.graphExec == event.graph_exec);
}

TEST_CASE("synchronisation of streams and contexts is told") {
  Session session;
  Listener listener;
  listener.subscribe();
  check(cuptiEnableDomain(1, listener.handle, CUPTI_CB_DOMAIN_SYNCHRONIZE));
  fake::engine().contexts = {{4, reinterpret_cast<CUcontext>(0x40), 0, 7}};
  StreamInfo stream;
  stream.context_id = 4;
  stream.id = 8;
  stream.handle = reinterpret_cast<CUstream>(0x80);
  fake::engine().streams = {stream};
  CUpti_SynchronizeData seen{};
  listener.also = [&](const Listener::Heard&, const void* data) {
    seen = *static_cast<const CUpti_SynchronizeData*>(data);
  };
  Sync sync;
  sync.context_id = 4;
  sync.stream_id = 8;
  observer().synchronised(sync);
  CHECK(seen.context == reinterpret_cast<CUcontext>(0x40));
  CHECK(seen.stream == stream.handle);
  sync.type = Sync::Type::event;
  observer().synchronised(sync);
  sync.type = Sync::Type::context;
  observer().synchronised(sync);
  REQUIRE(listener.heard.size() == 2);
  CHECK(listener.heard[0].id == CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
  CHECK(listener.heard[1].id == CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
}

TEST_CASE("a fatal error is told once and ends everything") {
  Session session{{{"fatal_error", "device lost"}}};
  Listener listener;
  listener.subscribe();
  check(cuptiEnableAllDomains(1, listener.handle));
  std::string message;
  listener.also = [&](const Listener::Heard& now, const void* data) {
    if (now.domain != CUPTI_CB_DOMAIN_STATE) return;
    message = static_cast<const CUpti_StateData*>(data)->notification.message;
  };
  tell(launch_call(1));
  CHECK(message == "device lost");
  const std::size_t heard = listener.heard.size();
  tell(launch_call(2));
  CHECK(listener.heard.size() == heard);
}
