#include "test/simgpu/engine/memory_events.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/memory.hpp"
#include "test/simgpu/engine/process.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu {
namespace {

// Addresses that nothing else has: below the stretches of memory.hpp.
constexpr std::uint64_t kDevicePools = 0x1000'0000'0000;
constexpr std::uint64_t kProgramPools = 0x1100'0000'0000;
constexpr std::uint64_t kPoolStride = 0x10'0000;

PoolState state_of(const MemoryPool& pool) {
  return {pool.address, pool.promised_size, pool.promised, pool.release_threshold};
}

/// Streams come to stream-ordered operations later; a pool is told of as calls leave it, which does
/// not depend on how far they are.
void promise(MemoryPool& pool, MemoryOperation::What what, std::uint64_t bytes) {
  if (what == MemoryOperation::What::allocated) {
    pool.promised += bytes;
    pool.promised_size = std::max(pool.promised_size, pool.promised);
    return;
  }
  pool.promised -= std::min(pool.promised, bytes);
  pool.promised_size =
      std::min(pool.promised_size, std::max(pool.promised, pool.release_threshold));
}

void log_memory(const MemoryOperation& told) {
  static constexpr const char* kNames[] = {"unknown", "pageable", "pinned",       "device",
                                           "array",   "managed",  "device_static"};
  log_line(fmt::format(
      R"({{"type":"memory","what":"{}","memory":"{}","address":{},"bytes":{},"time":{},"async":{},)"
      R"("device":{},"context":{},"stream":{},"pool":{},"pool_size":{},"pool_used":{},)"
      R"("correlation":{},"thread":{}}})",
      told.what == MemoryOperation::What::allocated ? "allocated" : "released",
      kNames[static_cast<int>(told.memory)], told.address, told.bytes, told.time_ns,
      told.asynchronous, told.device, told.context_id, told.stream_id, told.pool.address,
      told.pool.size, told.pool.used, told.correlation, this_thread().ordinal));
}

}  // namespace

void tell_memory(MemoryOperation::What what, std::uint64_t address, const Stream* stream) {
  const Allocation* allocation = address != 0 ? allocation_at(address) : nullptr;
  if (allocation == nullptr) {
    return;
  }
  MemoryPool* pool = allocation->pool;
  if (pool != nullptr && pool == &process_devices()[pool->device].graph_pool) {
    return;
  }
  MemoryOperation told;
  told.what = what;
  told.memory = allocation->kind;
  told.address = allocation->base;
  told.bytes = allocation->bytes;
  told.time_ns = now_ns();
  told.correlation = correlation_now();
  told.device = allocation->device;
  const Context* context = stream != nullptr ? stream->context : current_context();
  told.context_id = context != nullptr ? context->id : 0;
  told.asynchronous = stream != nullptr;
  if (stream != nullptr) {
    told.stream_id = stream->id;
  }
  if (pool != nullptr) {
    promise(*pool, what, rounded_allocation(allocation->bytes));
    told.pool = state_of(*pool);
  }
  if (log_wanted()) {
    log_memory(told);
  }
  tell([told](Observer& observer) { observer.changed(told); });
}

void tell_pool(PoolOperation::What what, MemoryPool& pool, std::uint64_t bytes_to_keep) {
  if (what == PoolOperation::What::trimmed) {
    pool.promised_size = std::min(pool.promised_size, std::max(pool.promised, bytes_to_keep));
  }
  PoolOperation told;
  told.what = what;
  told.pool = state_of(pool);
  told.bytes_to_keep = bytes_to_keep;
  told.time_ns = now_ns();
  told.correlation = correlation_now();
  told.device = pool.device;
  if (log_wanted()) {
    static constexpr const char* kWhat[] = {"created", "destroyed", "trimmed"};
    log_line(fmt::format(
        R"({{"type":"pool","what":"{}","pool":{},"size":{},"used":{},"release_threshold":{},)"
        R"("keep":{},"time":{},"device":{},"correlation":{},"thread":{}}})",
        kWhat[static_cast<int>(what)], told.pool.address, told.pool.size, told.pool.used,
        told.pool.release_threshold, told.bytes_to_keep, told.time_ns, told.device,
        told.correlation, this_thread().ordinal));
  }
  tell([told](Observer& observer) { observer.changed(told); });
}

void name_pool(MemoryPool& pool) {
  pool.address = kProgramPools + next_id(IdKind::pool) * kPoolStride;
}

void name_pools_of(Device& device) {
  device.default_pool.address = kDevicePools + 2 * device.ordinal * kPoolStride;
  device.graph_pool.address = device.default_pool.address + kPoolStride;
}

}  // namespace gprofml::simgpu
