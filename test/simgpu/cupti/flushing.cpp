// Handing buffers over: registration, flushes, dropped records.
#include <cupti.h>
#include <unistd.h>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/delivery.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/overheads.hpp"

using namespace gprofml::simgpu::cupti;

namespace {

CUptiResult flush_all(std::uint32_t flag) {
  if (client().buffer_completed.load() == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  if (in_forked_child()) return CUPTI_SUCCESS;
  while (flush_hangs_fault()) pause();
  record_buffer_flush();
  const bool forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  collect(forced ? Flush::forced : Flush::finished);
  wait_until_delivered();
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                           CUpti_BuffersCallbackCompleteFunc completed) {
  if (requested == nullptr || completed == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  mark_in_use();
  read_record_faults();
  // In this order: a buffer is asked for only when there is a way to give it back.
  client().buffer_completed = completed;
  client().buffer_requested = requested;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  return answer(flush_all(flag));
}

// Deprecated: context and stream are ignored.
CUptiResult cuptiActivityFlush(CUcontext, uint32_t, uint32_t flag) {
  return answer(flush_all(flag));
}

CUptiResult cuptiActivityFlushPeriod(uint32_t milliseconds) {
  if (in_forked_child()) return CUPTI_SUCCESS;
  deliver_periodically(milliseconds, [] { collect(Flush::full); });
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (dropped == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  *dropped = take_dropped_records();
  return CUPTI_SUCCESS;
}
