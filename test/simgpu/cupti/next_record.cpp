// cuptiActivityGetNextRecord: how long a record is depends on its kind alone.
#include <cupti.h>

#include <array>

#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/newer_records.hpp"

using namespace gprofml::simgpu::cupti;

namespace {

using Sizes = std::array<std::size_t, CUPTI_ACTIVITY_KIND_COUNT>;

/// By kind; 0: this version has no such records.
constexpr Sizes sizes() {
  Sizes all{};
  all[CUPTI_ACTIVITY_KIND_MEMCPY] = sizeof(CUpti_ActivityMemcpy6);
  all[CUPTI_ACTIVITY_KIND_MEMSET] = sizeof(CUpti_ActivityMemset4);
  all[CUPTI_ACTIVITY_KIND_KERNEL] = sizeof(CUpti_ActivityKernel10);
  all[CUPTI_ACTIVITY_KIND_DRIVER] = sizeof(CUpti_ActivityAPI);
  all[CUPTI_ACTIVITY_KIND_RUNTIME] = sizeof(CUpti_ActivityAPI);
  all[CUPTI_ACTIVITY_KIND_DEVICE] = sizeof(CUpti_ActivityDevice5);
  all[CUPTI_ACTIVITY_KIND_CONTEXT] = sizeof(CUpti_ActivityContext3);
  all[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = sizeof(CUpti_ActivityKernel10);
  all[CUPTI_ACTIVITY_KIND_NAME] = sizeof(CUpti_ActivityName);
  all[CUPTI_ACTIVITY_KIND_MARKER] = sizeof(CUpti_ActivityMarker2);
  all[CUPTI_ACTIVITY_KIND_MARKER_DATA] = sizeof(CUpti_ActivityMarkerData2);
  all[CUPTI_ACTIVITY_KIND_OVERHEAD] = sizeof(CUpti_ActivityOverhead3);
  all[CUPTI_ACTIVITY_KIND_CDP_KERNEL] = sizeof(CUpti_ActivityCdpKernel);
  all[CUPTI_ACTIVITY_KIND_PREEMPTION] = sizeof(CUpti_ActivityPreemption);
  all[CUPTI_ACTIVITY_KIND_ENVIRONMENT] = sizeof(CUpti_ActivityEnvironment);
  all[CUPTI_ACTIVITY_KIND_MEMCPY2] = sizeof(CUpti_ActivityMemcpyPtoP4);
  all[CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER] = sizeof(CUpti_ActivityUnifiedMemoryCounter3);
  all[CUPTI_ACTIVITY_KIND_FUNCTION] = sizeof(CUpti_ActivityFunction);
  all[CUPTI_ACTIVITY_KIND_MODULE] = sizeof(CUpti_ActivityModule);
  all[CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE] = sizeof(CUpti_ActivityDeviceAttribute);
  all[CUPTI_ACTIVITY_KIND_OPENACC_DATA] = sizeof(CUpti_ActivityOpenAccData);
  all[CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH] = sizeof(CUpti_ActivityOpenAccLaunch);
  all[CUPTI_ACTIVITY_KIND_OPENACC_OTHER] = sizeof(CUpti_ActivityOpenAccOther);
  all[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = sizeof(CUpti_ActivityCudaEvent2);
  all[CUPTI_ACTIVITY_KIND_STREAM] = sizeof(CUpti_ActivityStream);
  all[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = sizeof(CUpti_ActivitySynchronization2);
  all[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] = sizeof(CUpti_ActivityExternalCorrelation);
  all[CUPTI_ACTIVITY_KIND_NVLINK] = sizeof(CUpti_ActivityNvLink4);
  all[CUPTI_ACTIVITY_KIND_MEMORY] = sizeof(CUpti_ActivityMemory);
  all[CUPTI_ACTIVITY_KIND_PCIE] = sizeof(CUpti_ActivityPcie);
  all[CUPTI_ACTIVITY_KIND_OPENMP] = sizeof(CUpti_ActivityOpenMp);
  all[CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API] = sizeof(CUpti_ActivityAPI);
  all[CUPTI_ACTIVITY_KIND_MEMORY2] = sizeof(CUpti_ActivityMemory4);
  all[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = sizeof(CUpti_ActivityMemoryPool3);
  all[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = sizeof(CUpti_ActivityGraphTrace2);
  all[CUPTI_ACTIVITY_KIND_JIT] = sizeof(CUpti_ActivityJit2);
  all[CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE] = sizeof(CUpti_ActivityDeviceGraphTrace);
  all[CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS] = sizeof(CUpti_ActivityMemDecompress);
  all[CUPTI_ACTIVITY_KIND_CONFIDENTIAL_COMPUTE_ROTATION] =
      sizeof(CUpti_ActivityConfidentialComputeRotation);
  return all;
}

constexpr Sizes kSizes = sizes();

/// 0: no record of this version, nor of the newer one that a fault makes of it.
std::size_t size_at(const std::uint8_t* bytes) {
  const auto kind = reinterpret_cast<const CUpti_Activity*>(bytes)->kind;
  if (kind == kUnknownKind && has_unknown_kind()) {
    return sizeof(UnknownRecord) + longer_records_fault();
  }
  const auto index = static_cast<std::size_t>(kind);
  const std::size_t size = index < kSizes.size() ? kSizes[index] : 0;
  return size == 0 ? 0 : size + longer_records_fault();
}

CUptiResult next_record(std::uint8_t* buffer, std::size_t valid_size, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<std::uint8_t*>(*record);
    const std::size_t size = size_at(next);
    if (size == 0) return CUPTI_ERROR_INVALID_KIND;
    next += size;
  }
  const auto offset = static_cast<std::size_t>(next - buffer);
  if (offset >= valid_size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  const std::size_t size = size_at(next);
  if (size == 0) return CUPTI_ERROR_INVALID_KIND;
  if (offset + size > valid_size) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_size,
                                       CUpti_Activity** record) {
  return answer(next_record(buffer, valid_size, record));
}
