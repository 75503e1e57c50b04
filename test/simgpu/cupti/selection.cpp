#include "test/simgpu/cupti/selection.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/initial_records.hpp"

namespace gprofml::simgpu::cupti {
namespace {

using Flag = std::atomic<bool>;

constexpr std::size_t kKinds = CUPTI_ACTIVITY_KIND_COUNT;
Flag enabled[kKinds];
Flag driver_calls[CUPTI_DRIVER_TRACE_CBID_SIZE];
Flag runtime_calls[CUPTI_RUNTIME_TRACE_CBID_SIZE];

Flag latency_timestamps{false};
Flag event_timestamps{false};
Flag unsuccessful_queries{true};
Flag allocation_source{false};
Flag managed_counters[CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT];

/// Settings for single contexts, which are rare: `any` spares everybody else the lock.
struct ContextSettings {
  std::mutex mutex;
  std::map<std::pair<std::uint32_t, CUpti_ActivityKind>, bool> wanted;
  Flag any{false};
};

ContextSettings& context_settings() {
  static ContextSettings& instance = *new ContextSettings;
  return instance;
}

bool wanted_in_context(CUpti_ActivityKind kind, std::uint32_t context_id, bool otherwise) {
  ContextSettings& settings = context_settings();
  if (!settings.any) return otherwise;
  const std::lock_guard lock{settings.mutex};
  const auto found = settings.wanted.find({context_id, kind});
  return found == settings.wanted.end() ? otherwise : found->second;
}

void want_in_context(CUpti_ActivityKind kind, std::uint32_t context_id, bool wanted) {
  ContextSettings& settings = context_settings();
  const std::lock_guard lock{settings.mutex};
  settings.wanted[{context_id, kind}] = wanted;
  settings.any = true;
}

template <std::size_t size>
void set_all(Flag (&flags)[size], bool value) {
  for (Flag& flag : flags) flag.store(value, std::memory_order_relaxed);
}

template <std::size_t size>
CUptiResult set_one(Flag (&flags)[size], CUpti_CallbackId id, bool value) {
  if (id == 0 || id >= size) return CUPTI_ERROR_INVALID_PARAMETER;
  flags[id] = value;
  mark_in_use();
  return CUPTI_SUCCESS;
}

/// What the headers say happens when a kind is enabled that this version has not got.
CUptiResult support_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR:
    case CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS:
    case CUPTI_ACTIVITY_KIND_BRANCH:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION:
    case CUPTI_ACTIVITY_KIND_SHARED_ACCESS:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING:
    case CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO:
    case CUPTI_ACTIVITY_KIND_INSTRUCTION_CORRELATION:
      return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
    case CUPTI_ACTIVITY_KIND_CDP_KERNEL:
    case CUPTI_ACTIVITY_KIND_MODULE:
    case CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE:
    case CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE:
      return CUPTI_ERROR_NOT_COMPATIBLE;  // "cannot be directly enabled"
    case CUPTI_ACTIVITY_KIND_EVENT:
    case CUPTI_ACTIVITY_KIND_METRIC:
    case CUPTI_ACTIVITY_KIND_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_METRIC_INSTANCE:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC:
    case CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC_INSTANCE:
      return CUPTI_ERROR_INVALID_KIND;
    default:
      return kind > 0 && kind < CUPTI_ACTIVITY_KIND_COUNT ? CUPTI_SUCCESS
                                                          : CUPTI_ERROR_INVALID_KIND;
  }
}

void set_kind(CUpti_ActivityKind kind, bool value) {
  enabled[kind] = value;
  // The kind of a whole interface overrides what was said about its calls one by one.
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) set_all(driver_calls, value);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) set_all(runtime_calls, value);
}

CUptiResult enable(CUpti_ActivityKind kind) {
  if (const CUptiResult support = support_of(kind); support != CUPTI_SUCCESS) return support;
  if (const CUptiResult fault = enable_fault(kind); fault != CUPTI_SUCCESS) return fault;
  mark_in_use();
  set_kind(kind, true);
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) expect_devices();
  return CUPTI_SUCCESS;
}

CUptiResult set_for_context(CUcontext context, CUpti_ActivityKind kind, bool value) {
  if (const CUptiResult support = support_of(kind); support != CUPTI_SUCCESS) return support;
  const std::uint32_t id = context == nullptr ? 0 : context_id_of(context);
  if (id == 0) return CUPTI_ERROR_INVALID_CONTEXT;
  if (value) {
    if (const CUptiResult fault = enable_fault(kind); fault != CUPTI_SUCCESS) return fault;
  }
  mark_in_use();
  want_in_context(kind, id, value);
  return CUPTI_SUCCESS;
}

/// All or nothing: what is wrong with one counter keeps the others as they are.
CUptiResult configure_managed(const CUpti_ActivityUnifiedMemoryCounterConfig* config,
                              std::uint32_t count) {
  if (config == nullptr || count == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool known = config[i].kind > CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN &&
                       config[i].kind < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT;
    if (!known) return CUPTI_ERROR_INVALID_PARAMETER;
  }
  for (std::uint32_t i = 0; i < count; ++i)
    managed_counters[config[i].kind] = config[i].enable != 0;
  mark_in_use();
  return CUPTI_SUCCESS;
}

}  // namespace

bool wants_counter(CUpti_ActivityUnifiedMemoryCounterKind kind) {
  return wants(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) && managed_counters[kind];
}

bool wants(CUpti_ActivityKind kind, std::uint32_t context_id) {
  return wanted_in_context(kind, context_id, enabled[kind].load(std::memory_order_relaxed));
}

bool wants_record_of(const ApiCall& call) {
  if (call.domain == ApiCall::Domain::driver) {
    const bool one = call.callback_id < std::size(driver_calls) && driver_calls[call.callback_id];
    return wanted_in_context(CUPTI_ACTIVITY_KIND_DRIVER, call.context_id, one);
  }
  const bool one = call.callback_id < std::size(runtime_calls) && runtime_calls[call.callback_id];
  return wanted_in_context(CUPTI_ACTIVITY_KIND_RUNTIME, call.context_id, one);
}

CUpti_ActivityKind wanted_kernel_kind(std::uint32_t context_id) {
  for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_KERNEL}) {
    if (wants(kind, context_id)) return kind;
  }
  return CUPTI_ACTIVITY_KIND_INVALID;
}

Options options() {
  return {latency_timestamps, event_timestamps, unsuccessful_queries, allocation_source};
}

void want_nothing() {
  set_all(enabled, false);
  set_all(driver_calls, false);
  set_all(runtime_calls, false);
  set_all(managed_counters, false);
  ContextSettings& settings = context_settings();
  const std::lock_guard lock{settings.mutex};
  settings.wanted.clear();
  settings.any = false;
}

}  // namespace gprofml::simgpu::cupti

// --- the interface -----------------------------------------------------------------------------

using namespace gprofml::simgpu::cupti;

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  return answer(enable(kind));
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const CUptiResult result = enable(kind);
  if (result == CUPTI_SUCCESS) dump_existing(kind);
  return answer(result);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (support_of(kind) != CUPTI_SUCCESS) return answer(CUPTI_ERROR_INVALID_KIND);
  set_kind(kind, false);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind) {
  return answer(set_for_context(context, kind, true));
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind) {
  return answer(set_for_context(context, kind, false));
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  return answer(set_one(driver_calls, cbid, enable != 0));
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  return answer(set_one(runtime_calls, cbid, enable != 0));
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable) {
  latency_timestamps = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable) {
  event_timestamps = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable) {
  unsuccessful_queries = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableAllocationSource(uint8_t enable) {
  allocation_source = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
    CUpti_ActivityUnifiedMemoryCounterConfig* config, uint32_t count) {
  return answer(configure_managed(config, count));
}

// Accepted, and without effect on a GPU that makes no such records.
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDeviceGraph(uint8_t) {
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableHWTrace(uint8_t) {
  return answer(gprofml::simgpu::is_initialised() ? CUPTI_ERROR_NOT_SUPPORTED
                                                  : CUPTI_ERROR_NOT_INITIALIZED);
}
