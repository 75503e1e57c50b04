#include "injection/window_filter.hpp"

#include "injection/cupti_library.hpp"

namespace gprofml::injection {
namespace {

bool meets(const Windows& windows, const RawRecord& record, std::size_t start, std::size_t end) {
  return windows.meets(record.time(start), record.time(end));
}

/// What has lost its time is kept beside a window: better too much.
bool keeps_work(const Windows& windows, const RawRecord& record, std::size_t end) {
  const std::int64_t end_ns = record.time(end);
  return end_ns == 0 ? windows.keeps_timeless() : windows.keeps_work(end_ns);
}

}  // namespace

bool is_in_window(const Windows& windows, const RawRecord& record) {
  switch (record.kind()) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return keeps_work(windows, record, kKernel10_end);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return keeps_work(windows, record, kMemcpy6_end);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return keeps_work(windows, record, kMemset4_end);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return keeps_work(windows, record, kGraphTrace2_end);
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return meets(windows, record, kAPI_start, kAPI_end);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return meets(windows, record, kSynchronization2_start, kSynchronization2_end);
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return meets(windows, record, kOverhead3_start, kOverhead3_end);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return meets(windows, record, kMemory4_timestamp, kMemory4_timestamp);
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return meets(windows, record, kMemoryPool3_timestamp, kMemoryPool3_timestamp);
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return meets(windows, record, kUnifiedMemoryCounter3_start, kUnifiedMemoryCounter3_end);
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return windows.keeps_timeless();
    default:
      return true;
  }
}

}  // namespace gprofml::injection
