#include "test/simgpu/cupti/overheads.hpp"

#include <cupti.h>
#include <unistd.h>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/record_building.hpp"
#include "test/simgpu/cupti/selection.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

void record_own_work(CUpti_ActivityOverheadKind kind, std::int64_t cost_ns) {
  const std::int64_t start_ns = now_ns();
  spend(cost_ns);
  auto record = zeroed<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  record.overheadKind = kind;
  record.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  record.objectId.pt.processId = static_cast<std::uint32_t>(getpid());
  record.objectId.pt.threadId = client_thread_id(static_cast<std::uint64_t>(pthread_self()),
                                                 static_cast<std::uint32_t>(gettid()));
  record.start = client_time(start_ns);
  record.end = client_time(start_ns + cost_ns);
  append(record);
}

}  // namespace

void record_buffer_request() {
  const std::int64_t cost_ns = overhead_costs().buffer_request_ns;
  if (cost_ns == 0 || !wants(CUPTI_ACTIVITY_KIND_OVERHEAD)) return;
  record_own_work(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST, cost_ns);
}

void record_buffer_flush() {
  const std::int64_t cost_ns = overhead_costs().buffer_flush_ns;
  if (cost_ns == 0 || !wants(CUPTI_ACTIVITY_KIND_OVERHEAD) || !has_records()) return;
  record_own_work(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, cost_ns);
}

}  // namespace gprofml::simgpu::cupti
