// What the engine tells, field by field in CUPTI's records, and which records are made at all.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

namespace {

void enable(CUpti_ActivityKind kind) {
  check(cuptiActivityEnable(kind));
}

template <typename Record>
Record only(Session& session, CUpti_ActivityKind kind) {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  const auto all = session.records_of<Record>(kind);
  REQUIRE(all.size() == 1);
  return all[0];
}

std::size_t records_after_flush(Session& session) {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  return session.records().size();
}

Placement placement() {
  Placement at;
  at.start_ns = 500'000;
  at.end_ns = 600'000;
  at.device = 1;
  at.context_id = 2;
  at.stream_id = 13;
  at.correlation = 77;
  at.graph_id = 5;
  at.graph_node_id = 0x1'0000'0009;
  return at;
}

template <typename Record>
void check_placement(const Record& record) {
  CHECK(record.start == 500'000);
  CHECK(record.end == 600'000);
  CHECK(record.deviceId == 1);
  CHECK(record.contextId == 2);
  CHECK(record.streamId == 13);
  CHECK(record.correlationId == 77);
  CHECK(record.graphId == 5);
  CHECK(record.graphNodeId == 0x1'0000'0009);
}

}  // namespace

TEST_CASE("a kernel's record") {
  Session session;
  const bool concurrent = GENERATE(true, false);
  const auto kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL;
  enable(kind);
  Kernel kernel;
  kernel.at = placement();
  kernel.name = "_Z4gemmPf";
  kernel.grid[0] = 10;
  kernel.grid[1] = 20;
  kernel.grid[2] = 30;
  kernel.block[0] = 128;
  kernel.block[1] = 2;
  kernel.block[2] = 3;
  kernel.cluster[0] = 2;
  kernel.cluster[1] = 1;
  kernel.cluster[2] = 4;
  kernel.registers_per_thread = 255;
  kernel.static_shared_bytes = 1024;
  kernel.dynamic_shared_bytes = 2048;
  kernel.local_bytes_per_thread = 16;
  kernel.submitted_ns = 400'000;
  observer().submitted(kernel);
  const auto record = only<CUpti_ActivityKernel10>(session, kind);
  check_placement(record);
  CHECK(record.completed == 600'000);
  CHECK(record.name == std::string{"_Z4gemmPf"});
  CHECK(record.gridX == 10);
  CHECK(record.gridY == 20);
  CHECK(record.gridZ == 30);
  CHECK(record.blockX == 128);
  CHECK(record.blockY == 2);
  CHECK(record.blockZ == 3);
  CHECK(record.clusterX == 2);
  CHECK(record.clusterY == 1);
  CHECK(record.clusterZ == 4);
  CHECK(record.registersPerThread == 255);
  CHECK(record.staticSharedMemory == 1024);
  CHECK(record.dynamicSharedMemory == 2048);
  CHECK(record.localMemoryPerThread == 16);
  CHECK(record.channelType == CUPTI_CHANNEL_TYPE_COMPUTE);
  CHECK(record.queued == CUPTI_TIMESTAMP_UNKNOWN);
  CHECK(record.submitted == CUPTI_TIMESTAMP_UNKNOWN);
}

TEST_CASE("latency timestamps come when asked for") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  check(cuptiActivityEnableLatencyTimestamps(1));
  Kernel submitted = kernel(1, 900'000);
  submitted.submitted_ns = 400'000;
  observer().submitted(submitted);
  const auto record = only<CUpti_ActivityKernel10>(session, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CHECK(record.submitted == 400'000);
}

TEST_CASE("a copy's record") {
  struct Row {
    CopyKind kind;
    int expected;
  };
  const auto row = GENERATE(values<Row>({
      {CopyKind::host_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD},
      {CopyKind::device_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH},
      {CopyKind::device_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD},
      {CopyKind::host_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH},
      {CopyKind::host_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA},
      {CopyKind::array_to_host, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH},
      {CopyKind::array_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA},
      {CopyKind::array_to_device, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD},
      {CopyKind::device_to_array, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA},
  }));
  Session session;
  enable(CUPTI_ACTIVITY_KIND_MEMCPY);
  Copy copy;
  copy.at = placement();
  copy.kind = row.kind;
  copy.source = Memory::pinned;
  copy.target = Memory::device;
  copy.asynchronous = true;
  copy.bytes = 5'000'000'000;
  observer().submitted(copy);
  const auto record = only<CUpti_ActivityMemcpy6>(session, CUPTI_ACTIVITY_KIND_MEMCPY);
  check_placement(record);
  CHECK(record.copyKind == row.expected);
  CHECK(record.srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
  CHECK(record.dstKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  CHECK(record.flags == CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
  CHECK(record.bytes == 5'000'000'000);
  CHECK(record.copyCount == 1);
}

TEST_CASE("a peer copy has a kind of its own") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_MEMCPY);
  Copy copy;
  copy.at = placement();
  copy.kind = CopyKind::peer_to_peer;
  copy.source = copy.target = Memory::device;
  copy.bytes = 64;
  copy.source_device = 1;
  copy.target_device = 3;
  copy.source_context_id = 2;
  copy.target_context_id = 6;
  observer().submitted(copy);
  CHECK(records_after_flush(session) == 0);
  enable(CUPTI_ACTIVITY_KIND_MEMCPY2);
  observer().submitted(copy);
  const auto record = only<CUpti_ActivityMemcpyPtoP4>(session, CUPTI_ACTIVITY_KIND_MEMCPY2);
  check_placement(record);
  CHECK(record.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
  CHECK(record.flags == 0);
  CHECK(record.bytes == 64);
  CHECK(record.srcDeviceId == 1);
  CHECK(record.dstDeviceId == 3);
  CHECK(record.srcContextId == 2);
  CHECK(record.dstContextId == 6);
}

TEST_CASE("a fill's record") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_MEMSET);
  Fill fill;
  fill.at = placement();
  fill.memory = Memory::managed;
  fill.asynchronous = true;
  fill.bytes = 4096;
  fill.value = 0xabcd;
  observer().submitted(fill);
  const auto record = only<CUpti_ActivityMemset4>(session, CUPTI_ACTIVITY_KIND_MEMSET);
  check_placement(record);
  CHECK(record.bytes == 4096);
  CHECK(record.value == 0xabcd);
  CHECK(record.flags == CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
  CHECK(record.memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
}

TEST_CASE("a call's record and the two kinds of thread id") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_RUNTIME);
  const bool system = GENERATE(false, true);
  if (system) check(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  ApiCall call = launch_call(9);
  call.result = 2;
  tell(call);
  const auto record = only<CUpti_ActivityAPI>(session, CUPTI_ACTIVITY_KIND_RUNTIME);
  CHECK(record.cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  CHECK(record.start == 900'000);
  CHECK(record.end == 900'500);
  CHECK(record.processId == static_cast<std::uint32_t>(getpid()));
  CHECK(record.threadId == (system ? call.tid : static_cast<std::uint32_t>(call.pthread)));
  CHECK(record.correlationId == 9);
  CHECK(record.returnValue == 2);
}

TEST_CASE("synchronisation records") {
  struct Row {
    Sync::Type type;
    int expected;
  };
  const auto row = GENERATE(values<Row>({
      {Sync::Type::event, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE},
      {Sync::Type::stream_wait_event, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT},
      {Sync::Type::stream, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE},
      {Sync::Type::context, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE},
  }));
  Session session;
  enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  Sync sync;
  sync.type = row.type;
  sync.start_ns = 500'000;
  sync.end_ns = 600'000;
  sync.correlation = 8;
  sync.context_id = 1;
  sync.event_id = 4;
  sync.event_sync_id = 0x2'0000'0001;
  observer().synchronised(sync);
  const auto record =
      only<CUpti_ActivitySynchronization2>(session, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  CHECK(record.type == row.expected);
  CHECK(record.start == 500'000);
  CHECK(record.end == 600'000);
  CHECK(record.correlationId == 8);
  CHECK(record.contextId == 1);
  CHECK(record.streamId == CUPTI_SYNCHRONIZATION_INVALID_VALUE);
  CHECK(record.cudaEventId == 4);
  CHECK(record.cudaEventSyncId == 0x2'0000'0001);
}

TEST_CASE("a synchronisation without event says so, and queries in vain can be left out") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  Sync sync;
  sync.result = CUDA_ERROR_NOT_READY;
  observer().synchronised(sync);
  check(cuptiActivityEnableAllSyncRecords(0));
  observer().synchronised(sync);
  const auto record =
      only<CUpti_ActivitySynchronization2>(session, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  CHECK(record.returnValue == CUDA_ERROR_NOT_READY);
  CHECK(record.cudaEventSyncId == CUPTI_SYNCHRONIZATION_INVALID_VALUE);
}

TEST_CASE("an event's record waits for the device only when it has the device's time") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  const bool timed = GENERATE(false, true);
  if (timed) check(cuptiActivityEnableCudaEventDeviceTimestamps(1));
  EventRecord event;
  event.correlation = 3;
  event.device = 1;
  event.context_id = 2;
  event.stream_id = 13;
  event.event_id = 6;
  event.event_sync_id = 0x3'0000'0001;
  event.time_ns = 2'000'000;
  observer().recorded(event);
  check(cuptiActivityFlushAll(0));
  CHECK(session.delivered().size() == (timed ? 0 : 1));
  fake::engine().now_ns = 2'000'000;
  const auto record = only<CUpti_ActivityCudaEvent2>(session, CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  CHECK(record.correlationId == 3);
  CHECK(record.deviceId == 1);
  CHECK(record.contextId == 2);
  CHECK(record.streamId == 13);
  CHECK(record.eventId == 6);
  CHECK(record.cudaEventSyncId == 0x3'0000'0001);
  CHECK(record.deviceTimestamp == (timed ? 2'000'000 : 0));
}

TEST_CASE("devices, contexts and streams that exist are dumped on request") {
  Session session;
  DeviceInfo device;
  device.ordinal = 2;
  device.name = "Simulated H200";
  device.uuid[0] = 0xaa;
  device.uuid[15] = 0xbb;
  device.memory_bytes = 141'000'000'000;
  device.multiprocessors = 132;
  device.compute_major = 9;
  device.clock_khz = 1'980'000;
  fake::engine().devices = {device};
  fake::engine().contexts = {{4, nullptr, 2, 7}};
  StreamInfo stream;
  stream.context_id = 4;
  stream.id = 14;
  stream.flag = StreamInfo::Flag::non_blocking;
  stream.priority = -5;
  stream.correlation = 21;
  fake::engine().streams = {stream};
  enable(CUPTI_ACTIVITY_KIND_DEVICE);
  enable(CUPTI_ACTIVITY_KIND_CONTEXT);
  enable(CUPTI_ACTIVITY_KIND_STREAM);
  CHECK(records_after_flush(session) == 0);
  check(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_DEVICE));
  check(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_CONTEXT));
  check(cuptiActivityEnableAndDump(CUPTI_ACTIVITY_KIND_STREAM));
  const auto of_device = only<CUpti_ActivityDevice5>(session, CUPTI_ACTIVITY_KIND_DEVICE);
  CHECK(of_device.id == 2);
  CHECK(of_device.name == std::string{"Simulated H200"});
  CHECK(std::memcmp(of_device.uuid.bytes, device.uuid, 16) == 0);
  CHECK(of_device.globalMemorySize == 141'000'000'000);
  CHECK(of_device.numMultiprocessors == 132);
  CHECK(of_device.computeCapabilityMajor == 9);
  CHECK(of_device.coreClockRate == 1'980'000);
  const auto of_context = only<CUpti_ActivityContext3>(session, CUPTI_ACTIVITY_KIND_CONTEXT);
  CHECK(of_context.contextId == 4);
  CHECK(of_context.deviceId == 2);
  CHECK(of_context.nullStreamId == 7);
  const auto of_stream = only<CUpti_ActivityStream>(session, CUPTI_ACTIVITY_KIND_STREAM);
  CHECK(of_stream.contextId == 4);
  CHECK(of_stream.streamId == 14);
  CHECK(static_cast<std::int32_t>(of_stream.priority) == -5);
  CHECK(of_stream.flag == CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
  CHECK(of_stream.correlationId == 21);
}

TEST_CASE("a context that is made has a record and cost CUPTI some time") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_CONTEXT);
  enable(CUPTI_ACTIVITY_KIND_OVERHEAD);
  const ContextInfo context{4, nullptr, 2, 7};
  const ApiCall call = launch_call(31);
  ResourceEvent event;
  event.call = &call;
  event.context = &context;
  observer().resource(event);
  const auto overhead = only<CUpti_ActivityOverhead3>(session, CUPTI_ACTIVITY_KIND_OVERHEAD);
  CHECK(overhead.overheadKind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
  CHECK(overhead.objectKind == CUPTI_ACTIVITY_OBJECT_CONTEXT);
  CHECK(overhead.objectId.dcs.contextId == 4);
  CHECK(overhead.objectId.dcs.deviceId == 2);
  CHECK(overhead.start == 900'000);
  CHECK(overhead.end == 1'000'000);
  CHECK(overhead.correlationId == 31);
  CHECK(only<CUpti_ActivityContext3>(session, CUPTI_ACTIVITY_KIND_CONTEXT).contextId == 4);
}

TEST_CASE("calls are recorded one by one, or all of an interface, whichever was said last") {
  Session session;
  constexpr auto kLaunch = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  constexpr auto kMalloc = CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020;
  const auto recorded = [&] {
    ApiCall malloc_call = launch_call(2);
    malloc_call.callback_id = kMalloc;
    const std::size_t before = records_after_flush(session);
    tell(launch_call(1));
    const std::size_t launches = records_after_flush(session) - before;
    tell(malloc_call);
    return std::pair{launches, records_after_flush(session) - before - launches};
  };
  using Counts = std::pair<std::size_t, std::size_t>;
  CHECK(recorded() == Counts{0, 0});
  check(cuptiActivityEnableRuntimeApi(kLaunch, 1));
  CHECK(recorded() == Counts{1, 0});
  enable(CUPTI_ACTIVITY_KIND_RUNTIME);
  CHECK(recorded() == Counts{1, 1});
  check(cuptiActivityEnableRuntimeApi(kLaunch, 0));
  CHECK(recorded() == Counts{0, 1});
  enable(CUPTI_ACTIVITY_KIND_RUNTIME);
  CHECK(recorded() == Counts{1, 1});
  check(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME));
  CHECK(recorded() == Counts{0, 0});
  CHECK(cuptiActivityEnableRuntimeApi(CUPTI_RUNTIME_TRACE_CBID_SIZE, 1) ==
        CUPTI_ERROR_INVALID_PARAMETER);
}

TEST_CASE("a context's own setting comes before that for all") {
  Session session;
  fake::engine().contexts = {{1, reinterpret_cast<CUcontext>(0x10), 0, 7},
                             {2, reinterpret_cast<CUcontext>(0x20), 0, 7}};
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  check(cuptiActivityDisableContext(reinterpret_cast<CUcontext>(0x10),
                                    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
  observer().submitted(kernel(1, 900'000));
  Kernel other = kernel(2, 900'000);
  other.at.context_id = 2;
  observer().submitted(other);
  const auto record = only<CUpti_ActivityKernel10>(session, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CHECK(record.contextId == 2);
  CHECK(cuptiActivityEnableContext(nullptr, CUPTI_ACTIVITY_KIND_MEMCPY) ==
        CUPTI_ERROR_INVALID_CONTEXT);
}

TEST_CASE("kinds that cannot be enabled say why") {
  Session session{{{"enable.MEMCPY2", "35"}}};
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MODULE) == CUPTI_ERROR_NOT_COMPATIBLE);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_PC_SAMPLING) ==
        CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID) == CUPTI_ERROR_INVALID_KIND);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT) == CUPTI_ERROR_INVALID_KIND);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2) == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY) == CUPTI_SUCCESS);
  fake::engine().faults["enable"] = "999";
  CHECK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET) == CUPTI_ERROR_UNKNOWN);
}

TEST_CASE("a call is preceded by the external ids that the thread is within") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_RUNTIME);
  enable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  const auto custom = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  check(cuptiActivityPushExternalCorrelationId(custom, 40));
  check(cuptiActivityPushExternalCorrelationId(custom, 41));
  tell(launch_call(1));
  std::uint64_t last = 0;
  check(cuptiActivityPopExternalCorrelationId(custom, &last));
  CHECK(last == 41);
  check(cuptiActivityPopExternalCorrelationId(custom, nullptr));
  CHECK(cuptiActivityPopExternalCorrelationId(custom, &last) == CUPTI_ERROR_QUEUE_EMPTY);
  CHECK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_SIZE, 1) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  tell(launch_call(2));
  REQUIRE(records_after_flush(session) == 3);
  const auto records = session.records();
  REQUIRE(records[0]->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  const auto& id = *reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(records[0]);
  CHECK(id.externalKind == custom);
  CHECK(id.externalId == 41);
  CHECK(id.correlationId == 1);
  CHECK(records[1]->kind == CUPTI_ACTIVITY_KIND_RUNTIME);
}

TEST_CASE("a graph traced as a whole is one record for each launch and its nodes have none") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  enable(CUPTI_ACTIVITY_KIND_MEMCPY);
  enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  const ApiCall call = launch_call(77);
  observer().api_enter(call);
  Kernel first = kernel(77, 0);
  first.at = placement();
  observer().submitted(first);
  Copy second;
  second.at = placement();
  observer().submitted(second);
  GraphLaunch launch;
  launch.at = placement();
  launch.at.start_ns = 450'000;
  launch.at.end_ns = 900'000;
  launch.at.correlation = 77;
  observer().launched(launch);
  observer().api_exit(call);
  observer().submitted(kernel(78, 900'000));
  const auto record = only<CUpti_ActivityGraphTrace2>(session, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  CHECK(record.correlationId == 77);
  CHECK(record.start == 450'000);
  CHECK(record.end == 900'000);
  CHECK(record.graphId == 5);
  CHECK(record.streamId == launch.at.stream_id);
  CHECK(record.contextId == launch.at.context_id);
  CHECK(session.records().size() == 2);
}

TEST_CASE("without graph-level tracing a launch has no record of its own") {
  Session session;
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  Kernel node = kernel(77, 0);
  node.at = placement();
  observer().submitted(node);
  GraphLaunch launch;
  launch.at = placement();
  observer().launched(launch);
  REQUIRE(records_after_flush(session) == 1);
  CHECK(session.records()[0]->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

TEST_CASE("the client's own clock stands in all records") {
  Session session;
  check(cuptiActivityRegisterTimestampCallback(
      []() -> std::uint64_t { return static_cast<std::uint64_t>(now_ns()) + 7'000'000; }));
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  observer().submitted(kernel(1, 900'000));
  const auto record = only<CUpti_ActivityKernel10>(session, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  CHECK(record.end == 7'900'000);
  std::uint64_t now = 0;
  check(cuptiGetTimestamp(&now));
  CHECK(now == 8'000'000);
}

TEST_CASE("the model can have every n-th GPU activity lose its timestamps") {
  Session session{{{"zero_timestamps", "2"}}};
  enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  for (std::uint32_t id = 1; id <= 4; ++id) observer().submitted(kernel(id, 900'000));
  REQUIRE(records_after_flush(session) == 4);
  const auto kernels =
      session.records_of<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  for (const auto& record : kernels) {
    CHECK(record.start == (record.correlationId % 2 == 0 ? 0 : 899'900));
    CHECK(record.end == (record.correlationId % 2 == 0 ? 0 : 900'000));
  }
}
