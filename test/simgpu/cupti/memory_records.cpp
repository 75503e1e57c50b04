// Records of memory: allocations, pools, managed memory on the move.
#include <cupti.h>
#include <unistd.h>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/allocation_source.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/record_building.hpp"
#include "test/simgpu/cupti/records.hpp"
#include "test/simgpu/cupti/selection.hpp"
#include "test/simgpu/cupti/translation.hpp"

namespace gprofml::simgpu::cupti {
namespace {

constexpr std::uint32_t kCpu = static_cast<std::uint32_t>(CU_DEVICE_CPU);

CUpti_ActivityMemoryPoolOperationType type_of(PoolOperation::What what) {
  switch (what) {
    case PoolOperation::What::created:
      return CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED;
    case PoolOperation::What::destroyed:
      return CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED;
    case PoolOperation::What::trimmed:
      return CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  }
  return CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_INVALID;
}

}  // namespace

void record(const MemoryOperation& operation) {
  if (!wants(CUPTI_ACTIVITY_KIND_MEMORY2, operation.context_id)) return;
  auto record = zeroed<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  record.memoryOperationType = operation.what == MemoryOperation::What::allocated
                                   ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                   : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.memoryKind = static_cast<CUpti_ActivityMemoryKind>(memory_kind(operation.memory));
  record.correlationId = operation.correlation;
  record.address = operation.address;
  record.bytes = operation.bytes;
  record.timestamp = client_time(operation.time_ns);
  record.processId = static_cast<std::uint32_t>(getpid());
  record.deviceId = operation.device;
  record.contextId = operation.context_id;
  record.streamId = operation.stream_id;
  record.isAsync = operation.asynchronous ? 1 : 0;
  if (operation.pool.address != 0) {
    record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    record.memoryPoolConfig.address = operation.pool.address;
    record.memoryPoolConfig.releaseThreshold = operation.pool.release_threshold;
    record.memoryPoolConfig.pool.size = operation.pool.size;
    record.memoryPoolConfig.utilizedSize = operation.pool.used;
  }
  if (options().allocation_source) {
    const AllocationSource source = find_allocation_source();
    record.PC = source.address;
    record.source = source.file;
  }
  append(record);
}

void record(const PoolOperation& operation) {
  if (!wants(CUPTI_ACTIVITY_KIND_MEMORY_POOL)) return;
  auto record = zeroed<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  record.memoryPoolOperationType = type_of(operation.what);
  record.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  record.correlationId = operation.correlation;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.deviceId = operation.device;
  record.minBytesToKeep = operation.bytes_to_keep;
  record.address = operation.pool.address;
  record.size = operation.pool.size;
  record.releaseThreshold = operation.pool.release_threshold;
  record.timestamp = client_time(operation.time_ns);
  record.utilizedSize = operation.pool.used;
  append(record);
}

void record(const Migration& migration) {
  const auto counter = migration.to_device
                           ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
                           : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  if (!wants_counter(counter)) return;
  auto record =
      zeroed<CUpti_ActivityUnifiedMemoryCounter3>(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  record.counterKind = counter;
  record.value = migration.bytes;
  record.start = client_time(migration.start_ns);
  record.end = client_time(migration.end_ns);
  record.address = migration.address;
  record.srcId = migration.to_device ? kCpu : migration.device;
  record.dstId = migration.to_device ? migration.device : kCpu;
  record.processId = static_cast<std::uint32_t>(getpid());
  record.flags = migration.cause == Migration::Cause::prefetch
                     ? CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_PREFETCH
                     : CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_COHERENCE;
  append(record, migration.end_ns);
}

}  // namespace gprofml::simgpu::cupti
