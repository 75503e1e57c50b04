// Attributes, ids and what works before there is any driver.
#include <cupti_target.h>

#include <catch2/catch.hpp>
#include <string>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

TEST_CASE("attributes have the documented defaults and keep what they are set to") {
  Session session;
  std::size_t value = 0;
  std::size_t size = sizeof value;
  REQUIRE(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value) ==
          CUPTI_SUCCESS);
  CHECK(value == 3'200'000);
  value = 8'000'000;
  check(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
  value = 0;
  check(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value));
  CHECK(value == 8'000'000);
  std::uint8_t flag = 0;
  size = sizeof flag;
  check(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &flag));
  CHECK(flag == 1);
  CHECK(size == 1);
  CHECK(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &flag) ==
        CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
  CHECK(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE, &size,
                                  &value) == CUPTI_ERROR_NOT_SUPPORTED);
  CHECK(cuptiActivityGetAttribute(static_cast<CUpti_ActivityAttribute>(99), &size, &value) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, nullptr, &value) ==
        CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("ids of contexts, streams, devices and graphs") {
  Session session;
  const auto context = reinterpret_cast<CUcontext>(0x40);
  const auto stream_handle = reinterpret_cast<CUstream>(0x80);
  const auto graph = reinterpret_cast<CUgraph>(0x100);
  fake::engine().contexts = {{4, context, 2, 7}};
  StreamInfo stream;
  stream.context_id = 4;
  stream.id = 14;
  stream.handle = stream_handle;
  fake::engine().streams = {stream};
  fake::engine().graph_ids[graph] = 55;
  std::uint32_t id = 0;
  CHECK(cuptiGetContextId(context, &id) == CUPTI_SUCCESS);
  CHECK(id == 4);
  CHECK(cuptiGetContextId(nullptr, &id) == CUPTI_ERROR_INVALID_CONTEXT);
  CHECK(cuptiGetContextId(context, nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiGetStreamIdEx(context, stream_handle, 0, &id) == CUPTI_SUCCESS);
  CHECK(id == 14);
  CHECK(cuptiGetStreamId(nullptr, stream_handle, &id) == CUPTI_SUCCESS);
  CHECK(cuptiGetStreamId(nullptr, reinterpret_cast<CUstream>(0x81), &id) ==
        CUPTI_ERROR_INVALID_STREAM);
  fake::engine().contexts.push_back({5, reinterpret_cast<CUcontext>(0x50), 2, 7});
  CHECK(cuptiGetStreamIdEx(reinterpret_cast<CUcontext>(0x50), stream_handle, 0, &id) ==
        CUPTI_ERROR_INVALID_STREAM);
  CHECK(cuptiGetDeviceId(context, &id) == CUPTI_SUCCESS);
  CHECK(id == 2);
  CHECK(cuptiGetGraphId(graph, &id) == CUPTI_SUCCESS);
  CHECK(id == 55);
  CHECK(cuptiGetGraphId(nullptr, &id) == CUPTI_ERROR_INVALID_PARAMETER);
  ApiCall call = launch_call(1);
  call.context = nullptr;
  tell(call);
  CHECK(cuptiGetDeviceId(nullptr, &id) == CUPTI_ERROR_INVALID_DEVICE);
  call.context = context;
  tell(call);
  CHECK(cuptiGetDeviceId(nullptr, &id) == CUPTI_SUCCESS);
}

TEST_CASE("what is known of a device") {
  Session session;
  DeviceInfo device;
  device.handle = 0;
  device.compute_major = 9;
  fake::engine().devices = {device};
  int support = 0;
  CHECK(cuptiDeviceSupported(0, &support) == CUPTI_SUCCESS);
  CHECK(support == 1);
  CHECK(cuptiDeviceSupported(1, &support) == CUPTI_ERROR_INVALID_DEVICE);
  CUpti_DeviceVirtualizationMode mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_FORCE_INT;
  CHECK(cuptiDeviceVirtualizationMode(0, &mode) == CUPTI_SUCCESS);
  CHECK(mode == CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE);
  CUpti_Device_GetChipName_Params parameters{};
  CHECK(cuptiDeviceGetChipName(&parameters) == CUPTI_ERROR_INVALID_PARAMETER);
  parameters.structSize = CUpti_Device_GetChipName_Params_STRUCT_SIZE;
  CHECK(cuptiDeviceGetChipName(&parameters) == CUPTI_SUCCESS);
  CHECK(parameters.pChipName == std::string{"GH100"});
}

TEST_CASE("the time is the engine's, and the driver need not be up") {
  Session session;
  fake::engine().is_initialised = false;
  std::uint64_t now = 0;
  CHECK(cuptiGetTimestamp(&now) == CUPTI_SUCCESS);
  CHECK(now == 1'000'000);
  CHECK(cuptiGetTimestamp(nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE) == CUPTI_SUCCESS);
  CHECK_FALSE(is_initialised());
  CHECK(cuptiActivityEnableHWTrace(1) == CUPTI_ERROR_NOT_INITIALIZED);
}

TEST_CASE("thread id types") {
  CUpti_ActivityThreadIdType type = CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE;
  CHECK(cuptiGetThreadIdType(&type) == CUPTI_SUCCESS);
  CHECK(type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
  CHECK(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SIZE) == CUPTI_ERROR_NOT_SUPPORTED);
  CHECK(cuptiGetThreadIdType(nullptr) == CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("after cuptiFinalize nothing is recorded until a client comes again") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  REQUIRE(cuptiFinalize() == CUPTI_SUCCESS);
  observer().submitted(kernel(1, 900'000));
  CHECK(session.requests() == 0);
  CUpti_SubscriberHandle handle = nullptr;
  CHECK(cuptiSubscribe(&handle, nullptr, nullptr) == CUPTI_SUCCESS);
}
