#include "injection/stack_callbacks.hpp"

#include <cstdio>

#include "injection/api_rules.hpp"
#include "injection/recorder.hpp"
#include "injection/stack_capture.hpp"

namespace gprofml::injection {
namespace {

/// The word and the bit of a call in CuptiSession::stack_calls.
std::uint64_t& word_of(CuptiSession& session, CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return session.stack_calls[domain == CUPTI_CB_DOMAIN_DRIVER_API ? 1 : 0][id / 64];
}
std::uint64_t bit_of(CUpti_CallbackId id) {
  return std::uint64_t{1} << id % 64;
}

/// Whether there was room for it.
bool took(CuptiSession& session, EventRing& ring, bool has_room) {
  if (!has_room) {
    session.recorder->stacks_lost.fetch_add(1, std::memory_order_relaxed);
    announce_work(*session.recorder);
    return false;
  }
  after_commit(ring);  // stacks fill a ring quickly
  return true;
}

std::uint32_t enable_domain(CuptiSession& session, CUpti_CallbackDomain domain,
                            CUptiResult& failure) {
  std::uint32_t enabled = 0;
  for (std::uint32_t id = 1; id < CuptiSession::kMostCalls; ++id) {
    const char* name = nullptr;
    if (session.library.GetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr ||
        !submits_work(name)) {
      continue;
    }
    const CUptiResult result = session.library.EnableCallback(1, session.subscriber, domain, id);
    if (result == CUPTI_SUCCESS) {
      ++enabled;
      word_of(session, domain, id) |= bit_of(id);
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

void on_stack_call(CuptiSession& session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                   const CUpti_CallbackData& call) {
  if (!session.takes_stacks.load(std::memory_order_relaxed) || id >= CuptiSession::kMostCalls ||
      (word_of(session, domain, id) & bit_of(id)) == 0) {
    return;
  }
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  // The driver's call within one of the runtime has its correlation id.
  const bool is_same = ring->stack_correlation == call.correlationId;
  if (call.callbackSite != CUPTI_API_ENTER) {
    if (is_same) ring->is_in_that_call = false;
    return;
  }
  if (is_same) return;
  ring->stack_correlation = call.correlationId;
  ring->is_in_that_call = took(session, *ring, take_stack(*ring, call.correlationId, 0));
}

void on_stack_node(CuptiSession& session, std::uint64_t node) {
  if (node == 0 || !session.takes_stacks.load(std::memory_order_relaxed)) return;
  EventRing* ring = thread_ring();
  if (ring == nullptr) return;
  // Deep inside the libraries 4 KiB reach less far than at the begin of the call that captures.
  took(session, *ring,
       ring->is_in_that_call ? put_stack_of_call(*ring, node) : take_stack(*ring, 0, node));
}

}  // namespace gprofml::injection
