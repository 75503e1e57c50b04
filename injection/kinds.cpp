#include "injection/kinds.hpp"

#include <cstdio>

#include "injection/api_rules.hpp"
#include "injection/recorder.hpp"

namespace gprofml::injection {
namespace {

constexpr std::uint32_t kHighestCallback = 4096;

struct Kind {
  CUpti_ActivityKind kind;
  std::uint32_t group;  ///< bits of spool::Group of which one must be asked for; 0: always recorded
  const char* what;
};
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, spool::kKernels, "kernels"},
    {CUPTI_ACTIVITY_KIND_MEMCPY, spool::kCopies, "copies"},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, spool::kCopies, "copies between devices"},
    {CUPTI_ACTIVITY_KIND_MEMSET, spool::kFills, "fills"},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, spool::kSyncs, "synchronisation"},
    {CUPTI_ACTIVITY_KIND_CUDA_EVENT, spool::kEvents, "CUDA events"},
    {CUPTI_ACTIVITY_KIND_DEVICE, 0, "devices"},
    {CUPTI_ACTIVITY_KIND_CONTEXT, 0, "contexts"},
    {CUPTI_ACTIVITY_KIND_STREAM, 0, "streams"},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, spool::kOverhead, "CUPTI's own overhead"},
    {CUPTI_ACTIVITY_KIND_MEMORY2, spool::kMemory, "memory"},
    {CUPTI_ACTIVITY_KIND_MEMORY_POOL, spool::kPools, "memory pools"},
    {CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, spool::kUnifiedMemory, "unified memory"},
};

bool is_asked_for(const CuptiSession& session, const Kind& kind) {
  return kind.group == 0 || session.recorder->options.records(kind.group);
}

/// With it CUPTI hands over no record of a graph's nodes.
bool records_whole_graphs(const CuptiSession& session) {
  return !session.recorder->options.records(spool::kGraphNodes);
}

CUptiResult enable_kind(CuptiSession& session, CUpti_ActivityKind kind, const char* what) {
  const CUptiResult result = session.library.ActivityEnable(kind);
  if (result != CUPTI_SUCCESS) note_refusal(session, what, result);
  return result;
}

// --- calls ---------------------------------------------------------------------------------------

/// Enables all calls of one API and leaves the choice to the writer: CUPTI before 12.5.
void enable_all_calls(CuptiSession& session, CUpti_ActivityKind kind, const char* what) {
  session.filters_on_writer = true;
  enable_kind(session, kind, what);
}

/// Enables the calls that are recorded, one by one. Their activity kind stays off: enabling it
/// would enable the others too.
void enable_calls(CuptiSession& session, CUpti_CallbackDomain domain, CUpti_ActivityKind kind,
                  decltype(&::cuptiActivityEnableDriverApi) enable, const char* what) {
  const auto callback_name = session.library.GetCallbackName;
  std::uint32_t enabled = 0;
  CUptiResult failure = CUPTI_SUCCESS;
  for (std::uint32_t id = 1; enable != nullptr && callback_name != nullptr && id < kHighestCallback;
       ++id) {
    const char* name = nullptr;
    if (callback_name(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) continue;
    if (!is_recorded_call(name, session.recorder->options.groups)) continue;
    const CUptiResult result = enable(id, 1);
    if (result == CUPTI_SUCCESS) {
      ++enabled;
    } else {
      failure = result;
    }
  }
  if (enabled == 0) return enable_all_calls(session, kind, what);
  if (failure != CUPTI_SUCCESS) note_refusal(session, what, failure);
}

// --- memory --------------------------------------------------------------------------------------

/// Which library asked for memory, which not every CUPTI can tell.
void enable_sources(CuptiSession& session) {
  if (session.library.enable_allocation_source == nullptr) return;
  const CUptiResult result = session.library.enable_allocation_source(1);
  if (result != CUPTI_SUCCESS) note_refusal(session, "who asks for memory", result);
}

/// Says what is to be counted, which must be before the kind is enabled.
CUptiResult choose_counters(CuptiSession& session, std::uint32_t count) {
  constexpr std::uint32_t kMost = 8;
  // The first four are the oldest: where the others are refused, these may not be.
  constexpr CUpti_ActivityUnifiedMemoryCounterKind kCounters[kMost] = {
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING,
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP,
  };
  CUpti_ActivityUnifiedMemoryCounterConfig configs[kMost] = {};
  for (std::uint32_t i = 0; i < kMost; ++i) {
    configs[i].scope = CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES;
    configs[i].kind = kCounters[i];
    configs[i].enable = 1;
  }
  return session.library.configure_unified_memory(configs, count);
}

/// False: there is nothing to count, which is noted.
bool prepare_unified_memory(CuptiSession& session) {
  if (session.library.configure_unified_memory == nullptr) return true;
  CUptiResult result = choose_counters(session, 8);
  if (result != CUPTI_SUCCESS) result = choose_counters(session, 4);
  if (result != CUPTI_SUCCESS) note_refusal(session, "unified memory", result);
  return result == CUPTI_SUCCESS;
}

bool prepare(CuptiSession& session, CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_MEMORY2) enable_sources(session);
  if (kind == CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) return prepare_unified_memory(session);
  return true;
}

}  // namespace

CUptiResult enable_kinds(CuptiSession& session) {
  CUptiResult kernels = CUPTI_SUCCESS;
  for (const Kind& kind : kKinds) {
    if (!is_asked_for(session, kind) || !prepare(session, kind.kind)) continue;
    const CUptiResult result = enable_kind(session, kind.kind, kind.what);
    if (kind.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) kernels = result;
  }
  if (records_whole_graphs(session)) {
    enable_kind(session, CUPTI_ACTIVITY_KIND_GRAPH_TRACE, "graphs as a whole");
  }
  if (records_calls(session.recorder->options.groups)) {
    enable_calls(session, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_ACTIVITY_KIND_RUNTIME,
                 session.library.ActivityEnableRuntimeApi, "calls of the runtime API");
    enable_calls(session, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_ACTIVITY_KIND_DRIVER,
                 session.library.ActivityEnableDriverApi, "calls of the driver API");
  }
  // A program that polls an event makes a record each time it is not ready.
  if (session.library.enable_all_sync_records != nullptr) {
    session.library.enable_all_sync_records(0);
  }
  return kernels;
}

void disable_memory_kinds(CuptiSession& session) {
  constexpr std::uint32_t kMemoryGroups = spool::kMemory | spool::kPools | spool::kUnifiedMemory;
  if (session.library.ActivityDisable == nullptr) return;
  for (const Kind& kind : kKinds) {
    if ((kind.group & kMemoryGroups) != 0 && is_asked_for(session, kind)) {
      session.library.ActivityDisable(kind.kind);
    }
  }
}

void disable_kinds(CuptiSession& session) {
  if (session.library.ActivityDisable == nullptr) return;
  for (const Kind& kind : kKinds) {
    if (is_asked_for(session, kind)) session.library.ActivityDisable(kind.kind);
  }
  if (records_whole_graphs(session)) {
    session.library.ActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  }
  session.library.ActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME);
  session.library.ActivityDisable(CUPTI_ACTIVITY_KIND_DRIVER);
}

}  // namespace gprofml::injection
