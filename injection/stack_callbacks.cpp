#include "injection/stack_callbacks.hpp"

#include <cstdio>

#include "injection/api_rules.hpp"
#include "injection/recorder.hpp"
#include "injection/stack_capture.hpp"

namespace gprofml::injection {
namespace {

constexpr std::uint32_t kHighestCallback = 4096;

void take(CuptiSession& session, EventRing& ring, std::uint32_t correlation, std::uint64_t node) {
  if (!take_stack(ring, correlation, node)) {
    session.recorder->stacks_lost.fetch_add(1, std::memory_order_relaxed);
    announce_work(*session.recorder);
    return;
  }
  // Stacks fill a ring quickly.
  after_commit(ring);
}

std::uint32_t enable_domain(CuptiSession& session, CUpti_CallbackDomain domain,
                            CUptiResult& failure) {
  std::uint32_t enabled = 0;
  for (std::uint32_t id = 1; id < kHighestCallback; ++id) {
    const char* name = nullptr;
    if (session.library.GetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr ||
        !submits_work(name)) {
      continue;
    }
    const CUptiResult result = session.library.EnableCallback(1, session.subscriber, domain, id);
    if (result == CUPTI_SUCCESS) {
      ++enabled;
    } else {
      failure = result;
    }
  }
  return enabled;
}

}  // namespace

void enable_stack_callbacks(CuptiSession& session) {
  Recorder& recorder = *session.recorder;
  if (!recorder.options.records(spool::kStacks)) return;
#if !defined(__x86_64__)
  recorder.mailbox.note("stacks_not_recorded", "call stacks are recorded on x86-64 only");
#else
  if (session.library.EnableCallback == nullptr || session.library.GetCallbackName == nullptr) {
    recorder.mailbox.note("stacks_not_recorded", "CUPTI lacks what tells of calls as they begin");
    return;
  }
  CUptiResult failure = CUPTI_SUCCESS;
  const std::uint32_t enabled = enable_domain(session, CUPTI_CB_DOMAIN_RUNTIME_API, failure) +
                                enable_domain(session, CUPTI_CB_DOMAIN_DRIVER_API, failure);
  if (failure != CUPTI_SUCCESS || enabled == 0) note_refusal(session, "call stacks", failure);
  session.takes_stacks.store(true, std::memory_order_relaxed);
#endif
}

void on_stack_call(CuptiSession& session, CUpti_CallbackDomain, const CUpti_CallbackData& call) {
  if (call.callbackSite != CUPTI_API_ENTER ||
      !session.takes_stacks.load(std::memory_order_relaxed)) {
    return;
  }
  EventRing* ring = thread_ring();
  // The driver's call within one of the runtime has its correlation id.
  if (ring == nullptr || ring->stack_correlation == call.correlationId) return;
  ring->stack_correlation = call.correlationId;
  take(session, *ring, call.correlationId, 0);
}

void on_stack_node(CuptiSession& session, std::uint64_t node) {
  if (node == 0 || !session.takes_stacks.load(std::memory_order_relaxed)) return;
  if (EventRing* ring = thread_ring()) take(session, *ring, 0, node);
}

}  // namespace gprofml::injection
