#include "bench/stand_in_cupti.hpp"

#include <time.h>
#include <unistd.h>

namespace gprofml::bench {
namespace {

StandInCupti stand_in;

bool is_launch(CUpti_CallbackDomain domain, std::uint32_t id) {
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API &&
         id == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
}

std::size_t size_of(const CUpti_Activity* record) {
  return record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? sizeof(CUpti_ActivityAPI)
                                                     : sizeof(CUpti_ActivityKernel10);
}

CUptiResult next_of_two_kinds(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = reinterpret_cast<std::uint8_t*>(*record) + size_of(*record);
  if (static_cast<std::size_t>(next - buffer) >= valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" StandInCupti* gprofml_stand_in_cupti() {
  return &stand_in;
}

}  // namespace gprofml::bench

using gprofml::bench::stand_in;

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "an error";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetTimestamp(uint64_t* time_ns) {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  *time_ns =
      static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* data) {
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&stand_in);
  stand_in.subscriber = callback;
  stand_in.subscriber_data = data;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (gprofml::bench::is_launch(domain, id)) stand_in.calls_back_on_launch = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle,
                              CUpti_CallbackDomain domain) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) stand_in.calls_back_on_launch = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  if (!gprofml::bench::is_launch(domain, id)) return CUPTI_ERROR_INVALID_PARAMETER;
  *name = "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetGraphId(CUgraph, uint32_t*) {
  return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode, uint64_t*) {
  return CUPTI_ERROR_NOT_SUPPORTED;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, size_t*, void*) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  stand_in.request = request;
  stand_in.complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) stand_in.calls_have_records = true;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
  if (gprofml::bench::is_launch(CUPTI_CB_DOMAIN_RUNTIME_API, id)) {
    stand_in.calls_have_records = enable != 0;
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, uint8_t) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  const CUptiResult result = stand_in.next_record != nullptr
                                 ? stand_in.next_record(buffer, valid, record)
                                 : gprofml::bench::next_of_two_kinds(buffer, valid, record);
  if (result != CUPTI_SUCCESS) {
    if (stand_in.reader_tid.load(std::memory_order_relaxed) == 0) stand_in.reader_tid = gettid();
    stand_in.buffers_read.fetch_add(1, std::memory_order_release);
  }
  return result;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t) {
  return CUPTI_SUCCESS;
}

}  // extern "C"
