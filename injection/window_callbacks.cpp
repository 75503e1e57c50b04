#include "injection/window_callbacks.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "injection/api_rules.hpp"
#include "injection/recorder.hpp"

namespace gprofml::injection {
namespace {

constexpr std::uint32_t kHighestCallback = 4096;

struct Watched {
  const char* call;  ///< without prefix and suffix
  TriggerKind kind;
  CUpti_ApiCallbackSite site;
};
constexpr Watched kGraphCalls[] = {{"GraphLaunch", TriggerKind::graph_launch, CUPTI_API_ENTER}};
constexpr Watched kSyncCalls[] = {{"DeviceSynchronize", TriggerKind::synchronised, CUPTI_API_EXIT},
                                  {"ThreadSynchronize", TriggerKind::synchronised, CUPTI_API_EXIT},
                                  {"CtxSynchronize", TriggerKind::synchronised, CUPTI_API_EXIT},
                                  {"StreamSynchronize", TriggerKind::synchronised, CUPTI_API_EXIT},
                                  {"EventSynchronize", TriggerKind::synchronised, CUPTI_API_EXIT}};
// Neither call is in the window.
constexpr Watched kProfilerCalls[] = {
    {"ProfilerStart", TriggerKind::profiler_start, CUPTI_API_EXIT},
    {"ProfilerStop", TriggerKind::profiler_stop, CUPTI_API_ENTER}};

// By callback id, for runtime and driver. Filled before the first callback can come.
const Watched* watched_calls[2][kHighestCallback];

std::size_t row_of(CUpti_CallbackDomain domain) {
  return domain == CUPTI_CB_DOMAIN_RUNTIME_API ? 0 : 1;
}

template <std::size_t kCount>
void enable(CuptiSession& session, const Watched (&calls)[kCount]) {
  std::uint32_t enabled = 0;
  for (const CUpti_CallbackDomain domain :
       {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    for (std::uint32_t id = 1; id < kHighestCallback; ++id) {
      const char* name = nullptr;
      if (session.library.GetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) {
        continue;
      }
      for (const Watched& call : calls) {
        if (!is_call(name, call.call)) continue;
        watched_calls[row_of(domain)][id] = &call;
        const CUptiResult result =
            session.library.EnableCallback(1, session.subscriber, domain, id);
        if (result == CUPTI_SUCCESS) ++enabled;
      }
    }
  }
  if (enabled > 0) return;
  char detail[160];
  std::snprintf(detail, sizeof detail, "CUPTI tells of no %s: no window opens at them",
                calls[0].call);
  session.recorder->mailbox.note("windows_not_watched", detail);
}

}  // namespace

void enable_window_callbacks(CuptiSession& session) {
  const Windows& windows = session.recorder->window_pass.windows;
  if (session.library.EnableCallback == nullptr || session.library.GetCallbackName == nullptr) {
    return;
  }
  if (windows.watches_graphs()) enable(session, kGraphCalls);
  if (windows.watches_syncs()) enable(session, kSyncCalls);
  if (windows.watches_profiler_api()) enable(session, kProfilerCalls);
}

void on_window_call(CuptiSession&, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const CUpti_CallbackData& call) {
  if (id >= kHighestCallback) return;
  const Watched* watched = watched_calls[row_of(domain)][id];
  if (watched == nullptr || call.callbackSite != watched->site) return;
  TriggerEvent event{};
  event.time_ns = now_ns();
  EventRing* ring = thread_ring();
  // The driver's call within one of the runtime has its correlation id: of the two the first
  // counts.
  if (ring == nullptr || ring->trigger_correlation == call.correlationId) return;
  ring->trigger_correlation = call.correlationId;
  void* room = ring->reserve(sizeof event, ring->headroom_to_end());
  if (room == nullptr) {
    if (Recorder* recorder = current_recorder.load(std::memory_order_acquire)) {
      recorder->ranges_lost.fetch_add(1, std::memory_order_relaxed);
    }
    return;
  }
  event.header = {sizeof event, EventKind::trigger, TextKind::none};
  event.trigger = static_cast<std::uint32_t>(watched->kind);
  std::memcpy(room, &event, sizeof event);
  ring->commit(sizeof event);
  after_commit(*ring);
}

}  // namespace gprofml::injection
