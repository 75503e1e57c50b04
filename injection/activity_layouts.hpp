// Where the fields that are recorded lie in CUPTI's activity records.
//
// Written down here, not taken from the structs of the headers at hand, because the CUPTI of the
// program decides: records have only ever grown at their end since CUDA 12, so an offset holds for
// every version whose record is long enough, and the length of each record is known from where the
// next one begins. Held against the headers of CUDA 13 below.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gprofml::injection {

/// A record of CUPTI, read field by field.
class RawRecord {
 public:
  RawRecord(const void* at, std::size_t bytes)
      : at_(static_cast<const unsigned char*>(at)), bytes_(bytes) {}

  /// Whether the record is at least so long; then all before that may be read at `at`.
  bool has(std::size_t bytes) const { return bytes_ >= bytes; }
  const unsigned char* at(std::size_t offset) const { return at_ + offset; }

  /// The field at `offset`, or `missing` when the record of this CUPTI is shorter.
  template <class Field>
  Field get(std::size_t offset, Field missing = {}) const {
    if (offset + sizeof(Field) > bytes_) return missing;
    Field field;
    std::memcpy(&field, at_ + offset, sizeof field);
    return field;
  }
  std::uint32_t u32(std::size_t offset, std::uint32_t missing = 0) const {
    return get<std::uint32_t>(offset, missing);
  }
  std::uint64_t u64(std::size_t offset, std::uint64_t missing = 0) const {
    return get<std::uint64_t>(offset, missing);
  }
  std::int64_t time(std::size_t offset) const { return get<std::int64_t>(offset); }
  CUpti_ActivityKind kind() const { return static_cast<CUpti_ActivityKind>(u32(0)); }

 private:
  const unsigned char* at_;
  std::size_t bytes_;
};

// X(record, field, offset): the struct of CUDA 13 without "CUpti_Activity", its field, where it is.
#define GPROFML_ACTIVITY_FIELDS(X)           \
  X(Kernel10, registersPerThread, 6)         \
  X(Kernel10, start, 16)                     \
  X(Kernel10, end, 24)                       \
  X(Kernel10, deviceId, 40)                  \
  X(Kernel10, contextId, 44)                 \
  X(Kernel10, streamId, 48)                  \
  X(Kernel10, gridX, 52)                     \
  X(Kernel10, blockX, 64)                    \
  X(Kernel10, staticSharedMemory, 76)        \
  X(Kernel10, dynamicSharedMemory, 80)       \
  X(Kernel10, localMemoryPerThread, 84)      \
  X(Kernel10, correlationId, 92)             \
  X(Kernel10, name, 104)                     \
  X(Kernel10, graphNodeId, 144)              \
  X(Kernel10, graphId, 156)                  \
  X(Kernel10, clusterX, 176)                 \
  X(Memcpy6, copyKind, 4)                    \
  X(Memcpy6, srcKind, 5)                     \
  X(Memcpy6, dstKind, 6)                     \
  X(Memcpy6, flags, 7)                       \
  X(Memcpy6, bytes, 8)                       \
  X(Memcpy6, start, 16)                      \
  X(Memcpy6, end, 24)                        \
  X(Memcpy6, deviceId, 32)                   \
  X(Memcpy6, contextId, 36)                  \
  X(Memcpy6, streamId, 40)                   \
  X(Memcpy6, correlationId, 44)              \
  X(Memcpy6, graphNodeId, 64)                \
  X(Memcpy6, graphId, 72)                    \
  X(MemcpyPtoP4, srcDeviceId, 44)            \
  X(MemcpyPtoP4, dstDeviceId, 52)            \
  X(MemcpyPtoP4, correlationId, 60)          \
  X(MemcpyPtoP4, graphNodeId, 72)            \
  X(MemcpyPtoP4, graphId, 80)                \
  X(Memset4, value, 4)                       \
  X(Memset4, bytes, 8)                       \
  X(Memset4, start, 16)                      \
  X(Memset4, end, 24)                        \
  X(Memset4, deviceId, 32)                   \
  X(Memset4, contextId, 36)                  \
  X(Memset4, streamId, 40)                   \
  X(Memset4, correlationId, 44)              \
  X(Memset4, flags, 48)                      \
  X(Memset4, memoryKind, 50)                 \
  X(Memset4, graphNodeId, 64)                \
  X(Memset4, graphId, 72)                    \
  X(API, cbid, 4)                            \
  X(API, start, 8)                           \
  X(API, end, 16)                            \
  X(API, threadId, 28)                       \
  X(API, correlationId, 32)                  \
  X(API, returnValue, 36)                    \
  X(Overhead3, overheadKind, 4)              \
  X(Overhead3, objectKind, 8)                \
  X(Overhead3, objectId, 12)                 \
  X(Overhead3, start, 24)                    \
  X(Overhead3, end, 32)                      \
  X(Overhead3, correlationId, 40)            \
  X(Device5, globalMemorySize, 16)           \
  X(Device5, numMultiprocessors, 44)         \
  X(Device5, computeCapabilityMajor, 104)    \
  X(Device5, computeCapabilityMinor, 108)    \
  X(Device5, id, 112)                        \
  X(Device5, uuid, 120)                      \
  X(Device5, name, 136)                      \
  X(Device5, isMigEnabled, 145)              \
  X(Device5, migUuid, 160)                   \
  X(Context3, contextId, 4)                  \
  X(Context3, deviceId, 8)                   \
  X(Context3, nullStreamId, 14)              \
  X(Stream, contextId, 4)                    \
  X(Stream, streamId, 8)                     \
  X(Stream, priority, 12)                    \
  X(Stream, flag, 16)                        \
  X(Stream, correlationId, 20)               \
  X(Synchronization2, type, 4)               \
  X(Synchronization2, start, 8)              \
  X(Synchronization2, end, 16)               \
  X(Synchronization2, correlationId, 24)     \
  X(Synchronization2, contextId, 28)         \
  X(Synchronization2, streamId, 32)          \
  X(Synchronization2, cudaEventId, 36)       \
  X(Synchronization2, cudaEventSyncId, 40)   \
  X(Synchronization2, returnValue, 48)       \
  X(CudaEvent2, correlationId, 4)            \
  X(CudaEvent2, contextId, 8)                \
  X(CudaEvent2, streamId, 12)                \
  X(CudaEvent2, eventId, 16)                 \
  X(CudaEvent2, deviceTimestamp, 40)         \
  X(CudaEvent2, cudaEventSyncId, 48)         \
  X(Memory4, memoryOperationType, 4)         \
  X(Memory4, memoryKind, 8)                  \
  X(Memory4, correlationId, 12)              \
  X(Memory4, address, 16)                    \
  X(Memory4, bytes, 24)                      \
  X(Memory4, timestamp, 32)                  \
  X(Memory4, deviceId, 52)                   \
  X(Memory4, contextId, 56)                  \
  X(Memory4, streamId, 60)                   \
  X(Memory4, isAsync, 72)                    \
  X(Memory4, memoryPoolConfig, 80)           \
  X(Memory4, source, 120)                    \
  X(MemoryPool3, memoryPoolOperationType, 4) \
  X(MemoryPool3, correlationId, 12)          \
  X(MemoryPool3, deviceId, 20)               \
  X(MemoryPool3, address, 32)                \
  X(MemoryPool3, size, 40)                   \
  X(MemoryPool3, releaseThreshold, 48)       \
  X(MemoryPool3, timestamp, 56)              \
  X(MemoryPool3, utilizedSize, 64)           \
  X(UnifiedMemoryCounter3, counterKind, 4)   \
  X(UnifiedMemoryCounter3, value, 8)         \
  X(UnifiedMemoryCounter3, start, 16)        \
  X(UnifiedMemoryCounter3, end, 24)          \
  X(UnifiedMemoryCounter3, address, 32)      \
  X(UnifiedMemoryCounter3, srcId, 40)        \
  X(UnifiedMemoryCounter3, dstId, 44)        \
  X(UnifiedMemoryCounter3, flags, 56)        \
  X(GraphTrace2, correlationId, 4)           \
  X(GraphTrace2, start, 8)                   \
  X(GraphTrace2, end, 16)                    \
  X(GraphTrace2, deviceId, 24)               \
  X(GraphTrace2, graphId, 28)                \
  X(GraphTrace2, contextId, 32)              \
  X(GraphTrace2, streamId, 36)

// kKernel10_start and so on.
#define GPROFML_FIELD_OFFSET(record, field, offset) \
  inline constexpr std::size_t k##record##_##field = offset;
GPROFML_ACTIVITY_FIELDS(GPROFML_FIELD_OFFSET)
#undef GPROFML_FIELD_OFFSET

// Within Memory4's memoryPoolConfig.
inline constexpr std::size_t kMemory4_poolAddress = kMemory4_memoryPoolConfig + 8;
inline constexpr std::size_t kMemory4_poolSize = kMemory4_memoryPoolConfig + 24;
inline constexpr std::size_t kMemory4_poolUtilizedSize = kMemory4_memoryPoolConfig + 32;
// Shorter ones: Memory2 ends behind the pool's size, Memory3 behind what is used of it; the first
// record of pools ends behind its time.

#if CUPTI_API_VERSION >= 130000
#define GPROFML_FIELD_CHECK(record, field, offset) \
  static_assert(offsetof(CUpti_Activity##record, field) == (offset));
GPROFML_ACTIVITY_FIELDS(GPROFML_FIELD_CHECK)
#undef GPROFML_FIELD_CHECK
// Both copies begin alike, so that one function reads what they share.
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, copyKind) == kMemcpy6_copyKind);
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, bytes) == kMemcpy6_bytes);
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, start) == kMemcpy6_start);
static_assert(offsetof(CUpti_ActivityMemcpyPtoP4, streamId) == kMemcpy6_streamId);
static_assert(offsetof(CUpti_ActivityMemory4, memoryPoolConfig.address) == kMemory4_poolAddress);
static_assert(offsetof(CUpti_ActivityMemory4, memoryPoolConfig.pool.size) == kMemory4_poolSize);
static_assert(offsetof(CUpti_ActivityMemory4, memoryPoolConfig.utilizedSize) ==
              kMemory4_poolUtilizedSize);
// The shorter records of CUDA 12's own library.
static_assert(sizeof(CUpti_ActivityMemory3) == kMemory4_source);
static_assert(offsetof(CUpti_ActivityUnifiedMemoryCounter2, dstId) == kUnifiedMemoryCounter3_dstId);
static_assert(offsetof(CUpti_ActivityGraphTrace, streamId) == kGraphTrace2_streamId);
#endif
#undef GPROFML_ACTIVITY_FIELDS

}  // namespace gprofml::injection
