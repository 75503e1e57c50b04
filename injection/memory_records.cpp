#include "injection/memory_records.hpp"

namespace gprofml::injection {
namespace {

constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

}  // namespace

void write_memory_event(RecordStream& stream, const RawRecord& record) {
  spool::MemoryEvent event{};
  event.time_ns = record.time(kMemory4_timestamp);
  event.address = record.u64(kMemory4_address);
  event.bytes = record.u64(kMemory4_bytes);
  event.pool = record.u64(kMemory4_poolAddress);
  event.pool_size = event.pool == 0 ? 0 : record.u64(kMemory4_poolSize);
  event.pool_used =
      event.pool == 0 ? kUnknownBytes : record.u64(kMemory4_poolUtilizedSize, kUnknownBytes);
  event.operation = record.u32(kMemory4_memoryOperationType);
  event.memory = record.u32(kMemory4_memoryKind);
  event.correlation = record.u32(kMemory4_correlationId);
  event.device = record.u32(kMemory4_deviceId);
  event.context = record.u32(kMemory4_contextId);
  event.stream = record.u32(kMemory4_isAsync) != 0 ? record.u32(kMemory4_streamId) : spool::kNoId;
  event.source = stream.string(record.get<const char*>(kMemory4_source));
  stream.add(spool::RecordKind::memory_event, event);
}

void write_memory_pool(RecordStream& stream, const RawRecord& record) {
  spool::MemoryPool pool{};
  pool.time_ns = record.time(kMemoryPool3_timestamp);
  pool.pool = record.u64(kMemoryPool3_address);
  pool.size = record.u64(kMemoryPool3_size);
  pool.used = record.u64(kMemoryPool3_utilizedSize, kUnknownBytes);
  pool.release_threshold = record.u64(kMemoryPool3_releaseThreshold);
  pool.operation = record.u32(kMemoryPool3_memoryPoolOperationType);
  pool.device = record.u32(kMemoryPool3_deviceId);
  pool.correlation = record.u32(kMemoryPool3_correlationId);
  stream.add(spool::RecordKind::memory_pool, pool);
}

void write_unified_memory(RecordStream& stream, const RawRecord& record) {
  spool::UnifiedMemory moved{};
  moved.start_ns = record.time(kUnifiedMemoryCounter3_start);
  moved.end_ns = record.time(kUnifiedMemoryCounter3_end);
  moved.address = record.u64(kUnifiedMemoryCounter3_address);
  moved.value = record.u64(kUnifiedMemoryCounter3_value);
  moved.counter = record.u32(kUnifiedMemoryCounter3_counterKind);
  moved.source_device = record.u32(kUnifiedMemoryCounter3_srcId);
  moved.target_device = record.u32(kUnifiedMemoryCounter3_dstId);
  moved.flags = record.u32(kUnifiedMemoryCounter3_flags);
  stream.add(spool::RecordKind::unified_memory, moved);
}

void write_graph_launch(RecordStream& stream, const RawRecord& record) {
  spool::GraphLaunch launch{};
  launch.start_ns = record.time(kGraphTrace2_start);
  launch.end_ns = record.time(kGraphTrace2_end);
  launch.graph = record.u32(kGraphTrace2_graphId);
  launch.device = record.u32(kGraphTrace2_deviceId);
  launch.context = record.u32(kGraphTrace2_contextId);
  launch.stream = record.u32(kGraphTrace2_streamId);
  launch.correlation = record.u32(kGraphTrace2_correlationId);
  stream.add(spool::RecordKind::graph_launch, launch);
}

}  // namespace gprofml::injection
