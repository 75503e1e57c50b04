// Records of allocations, pools and managed memory.
#include <catch2/catch.hpp>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::test;

namespace {

template <typename Record>
Record only(Session& session, CUpti_ActivityKind kind) {
  check(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  const auto found = session.records_of<Record>(kind);
  REQUIRE(found.size() == 1);
  return found[0];
}

MemoryOperation device_memory() {
  MemoryOperation operation;
  operation.address = 0x2000'0200'0000;
  operation.bytes = 4099;
  operation.time_ns = 900'000;
  operation.correlation = 17;
  operation.device = 1;
  operation.context_id = 2;
  return operation;
}

Migration migration() {
  Migration moved;
  moved.address = 0x2000'0100'0000;
  moved.bytes = 65536;
  moved.device = 1;
  moved.start_ns = 500'000;
  moved.end_ns = 600'000;
  return moved;
}

void configure(CUpti_ActivityUnifiedMemoryCounterKind kind, std::uint32_t enable = 1) {
  CUpti_ActivityUnifiedMemoryCounterConfig counter{
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES, kind, 0, enable};
  check(cuptiActivityConfigureUnifiedMemoryCounter(&counter, 1));
}

}  // namespace

TEST_CASE("an allocation has a record with its address, size and call") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
  observer().changed(device_memory());
  const auto record = only<CUpti_ActivityMemory4>(session, CUPTI_ACTIVITY_KIND_MEMORY2);
  CHECK(record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
  CHECK(record.memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
  CHECK(record.correlationId == 17);
  CHECK(record.address == 0x2000'0200'0000);
  CHECK(record.bytes == 4099);
  CHECK(record.timestamp == 900'000);
  CHECK(record.deviceId == 1);
  CHECK(record.contextId == 2);
  CHECK(record.streamId == CUPTI_INVALID_STREAM_ID);
  CHECK(record.isAsync == 0);
  CHECK(record.memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID);
  CHECK(record.source == nullptr);
}

TEST_CASE("a stream-ordered release has its stream and its pool") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
  MemoryOperation operation = device_memory();
  operation.what = MemoryOperation::What::released;
  operation.asynchronous = true;
  operation.stream_id = 13;
  operation.pool = {0x1000'0000'0000, 8192, 4096, 1024};
  observer().changed(operation);
  const auto record = only<CUpti_ActivityMemory4>(session, CUPTI_ACTIVITY_KIND_MEMORY2);
  CHECK(record.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
  CHECK(record.isAsync == 1);
  CHECK(record.streamId == 13);
  CHECK(record.memoryPoolConfig.memoryPoolType == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
  CHECK(record.memoryPoolConfig.address == 0x1000'0000'0000);
  CHECK(record.memoryPoolConfig.pool.size == 8192);
  CHECK(record.memoryPoolConfig.utilizedSize == 4096);
  CHECK(record.memoryPoolConfig.releaseThreshold == 1024);
}

TEST_CASE("the source of an allocation is recorded when it is asked for") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
  check(cuptiActivityEnableAllocationSource(1));
  observer().changed(device_memory());
  check(cuptiActivityEnableAllocationSource(0));
  const auto record = only<CUpti_ActivityMemory4>(session, CUPTI_ACTIVITY_KIND_MEMORY2);
  // The innermost library that does not lie beside this one: the C library, which calls main().
  REQUIRE(record.source != nullptr);
  CHECK(std::string{record.source}.find("libc.so") != std::string::npos);
  CHECK(record.PC != 0);
}

TEST_CASE("a pool's making, trimming and end have a record each") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY_POOL));
  PoolOperation operation;
  operation.pool = {0x1100'0000'0000, 8192, 4096, 1024};
  operation.time_ns = 900'000;
  operation.correlation = 21;
  operation.device = 1;
  observer().changed(operation);
  operation.what = PoolOperation::What::trimmed;
  operation.bytes_to_keep = 2048;
  observer().changed(operation);
  operation.what = PoolOperation::What::destroyed;
  observer().changed(operation);
  check(cuptiActivityFlushAll(0));
  const auto records =
      session.records_of<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  REQUIRE(records.size() == 3);
  CHECK(records[0].memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED);
  CHECK(records[1].memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED);
  CHECK(records[2].memoryPoolOperationType == CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED);
  CHECK(records[1].minBytesToKeep == 2048);
  CHECK(records[1].address == 0x1100'0000'0000);
  CHECK(records[1].size == 8192);
  CHECK(records[1].utilizedSize == 4096);
  CHECK(records[1].releaseThreshold == 1024);
  CHECK(records[1].correlationId == 21);
  CHECK(records[1].timestamp == 900'000);
  CHECK(records[1].deviceId == 1);
}

TEST_CASE("managed memory on the move is counted when the counter was configured") {
  Session session;
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
  observer().migrated(migration());  // nothing configured, nothing recorded
  configure(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
  observer().migrated(migration());
  Migration back = migration();
  back.to_device = false;
  observer().migrated(back);  // the other direction was not asked for
  const auto record = only<CUpti_ActivityUnifiedMemoryCounter3>(
      session, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  CHECK(record.counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
  CHECK(record.value == 65536);
  CHECK(record.address == 0x2000'0100'0000);
  CHECK(record.start == 500'000);
  CHECK(record.end == 600'000);
  CHECK(record.srcId == 0xffffffff);
  CHECK(record.dstId == 1);
  CHECK(record.flags == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE);
}

TEST_CASE("what the host fetches back, and prefetches") {
  Session session;
  configure(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
  check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER));
  Migration back = migration();
  back.to_device = false;
  back.cause = Migration::Cause::prefetch;
  observer().migrated(back);
  const auto record = only<CUpti_ActivityUnifiedMemoryCounter3>(
      session, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  CHECK(record.counterKind == CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
  CHECK(record.srcId == 1);
  CHECK(record.dstId == 0xffffffff);
  CHECK(record.flags == CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH);
}

TEST_CASE("counters of managed memory that do not exist are refused") {
  CUpti_ActivityUnifiedMemoryCounterConfig counter{
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT, 0, 1};
  CHECK(cuptiActivityConfigureUnifiedMemoryCounter(&counter, 1) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiActivityConfigureUnifiedMemoryCounter(nullptr, 1) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(cuptiActivityConfigureUnifiedMemoryCounter(&counter, 0) == CUPTI_ERROR_INVALID_PARAMETER);
}
