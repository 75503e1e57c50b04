#include "test/simgpu/cupti/calls.hpp"

#include <cupti.h>

#include <deque>

#include "test/simgpu/cupti/names.hpp"
#include "test/simgpu/cupti/per_thread.hpp"
#include "test/simgpu/cupti/subscribers.hpp"

namespace gprofml::simgpu::cupti {
namespace {

/// A call that has begun: where the subscriber may leave a value for the call's end.
struct Frame {
  ApiCall::Domain domain;
  std::uint32_t callback_id;
  std::uint32_t correlation;
  std::int64_t start_ns;
  std::uint64_t correlation_data;
};

struct ThreadCalls {
  std::deque<Frame> frames;  // a deque: subscribers hold pointers into it
  CUcontext context = nullptr;
};

ThreadCalls& thread_calls() {
  return PerThread<ThreadCalls>::get();
}

CUpti_CallbackDomain domain_of(const ApiCall& call) {
  return call.domain == ApiCall::Domain::driver ? CUPTI_CB_DOMAIN_DRIVER_API
                                                : CUPTI_CB_DOMAIN_RUNTIME_API;
}

const char* function_name(const ApiCall& call) {
  const bool is_driver = call.domain == ApiCall::Domain::driver;
  const char* name = (is_driver ? kDriverNames : kRuntimeFunctions).at(call.callback_id);
  return name != nullptr ? name : call.name;
}

void call_back_at(CUpti_ApiCallbackSite site, const ApiCall& call,
                  std::uint64_t* correlation_data) {
  if (!wants_callback(domain_of(call), call.callback_id)) return;
  std::uint32_t result = call.result;  // cudaError_t and CUresult have its size
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = function_name(call);
  data.functionParams = call.parameters;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &result : nullptr;
  data.symbolName = call.symbol;
  data.context = call.context;
  data.contextUid = call.context_id;
  data.correlationData = correlation_data;
  data.correlationId = call.correlation;
  call_back(domain_of(call), call.callback_id, &data);
}

bool is_of(const Frame& frame, const ApiCall& call) {
  return frame.domain == call.domain && frame.callback_id == call.callback_id &&
         frame.correlation == call.correlation;
}

/// Whether the call is under way here; calls within it that never ended are forgotten. It is not
/// when CUPTI was loaded in the middle of it.
bool unwind_to(std::deque<Frame>& frames, const ApiCall& call) {
  for (std::size_t depth = frames.size(); depth-- > 0;) {
    if (!is_of(frames[depth], call)) continue;
    frames.erase(frames.begin() + static_cast<std::ptrdiff_t>(depth) + 1, frames.end());
    return true;
  }
  return false;
}

}  // namespace

void call_began(const ApiCall& call) {
  ThreadCalls& calls = thread_calls();
  calls.frames.push_back({call.domain, call.callback_id, call.correlation, call.start_ns, 0});
  calls.context = call.context;
  call_back_at(CUPTI_API_ENTER, call, &calls.frames.back().correlation_data);
}

void call_ended(const ApiCall& call) {
  ThreadCalls& calls = thread_calls();
  calls.context = call.context;
  const bool began_here = unwind_to(calls.frames, call);
  std::uint64_t nothing_left = 0;
  call_back_at(CUPTI_API_EXIT, call,
               began_here ? &calls.frames.back().correlation_data : &nothing_left);
  if (began_here) calls.frames.pop_back();
}

std::int64_t start_of_outermost_call() {
  const std::deque<Frame>& frames = thread_calls().frames;
  return frames.empty() ? now_ns() : frames.front().start_ns;
}

CUcontext current_context() {
  return thread_calls().context;
}

}  // namespace gprofml::simgpu::cupti
