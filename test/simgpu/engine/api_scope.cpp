#include "test/simgpu/engine/api_scope.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>

#include "test/simgpu/engine/clock.hpp"
#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/process.hpp"

namespace gprofml::simgpu {
namespace {

std::atomic<std::uint32_t> g_correlation{0};

/// Counts up from 1, or from where a fault says: past 2^32 - 1 it goes on with 1, for 0 means none.
std::uint32_t next_correlation() {
  static const bool begun = [] {
    const char* first = fault("first_correlation");
    g_correlation =
        first != nullptr ? static_cast<std::uint32_t>(std::strtoull(first, nullptr, 10)) - 1 : 0;
    return true;
  }();
  static_cast<void>(begun);
  const std::uint32_t next = ++g_correlation;
  return next != 0 ? next : ++g_correlation;
}

void log_call(const ApiCall& call, const ThreadState& thread) {
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"call","domain":"{}","name":"{}","id":{},"start":{},"end":{},"correlation":{},)"
        R"("thread":{},"level":{},"context":{},"result":{}}})",
        call.domain == ApiCall::Domain::runtime ? "runtime" : "driver", call.name, call.callback_id,
        call.start_ns, call.end_ns, call.correlation, thread.ordinal, thread.depth, call.context_id,
        call.result));
  }
}

}  // namespace

ApiScope::ApiScope(const ApiId& id, const void* parameters, const char* symbol)
    : id_(id), outer_(this_thread().scope), own_cost_ns_(model().call_cost(id.cost_name)) {
  ThreadState& thread = this_thread();
  if (thread.depth == 0) {
    thread.correlation = next_correlation();
    advance(model().host_gap_ns);
  }
  call_.domain = id.domain;
  call_.callback_id = id.callback_id;
  call_.name = id.name;
  call_.parameters = parameters;
  call_.symbol = symbol;
  call_.correlation = thread.correlation;
  call_.tid = thread.tid;
  call_.pthread = static_cast<std::uint64_t>(pthread_self());
  call_.start_ns = now_ns();
  refresh_context();
  thread.scope = this;
  ++thread.depth;
  if (Observer* observer = current_observer(); observer != nullptr) {
    observer->api_enter(call_);
  }
  advance(own_cost_ns_ / 2);
}

ApiScope::~ApiScope() {
  ThreadState& thread = this_thread();
  advance(own_cost_ns_ - own_cost_ns_ / 2);
  call_.end_ns = now_ns();
  refresh_context();
  --thread.depth;
  log_call(call_, thread);
  if (Observer* observer = current_observer(); observer != nullptr) {
    observer->api_exit(call_);
  }
  thread.scope = outer_;
}

void ApiScope::refresh_context() {
  const ThreadState& thread = this_thread();
  Context* context = thread.contexts.empty() ? nullptr : thread.contexts.back();
  call_.context = reinterpret_cast<CUcontext>(context);
  call_.context_id = context != nullptr ? context->id : 0;
}

std::uint32_t refusal() {
  if (process_is_forked()) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  return this_thread().is_worker ? static_cast<std::uint32_t>(CUDA_ERROR_NOT_PERMITTED) : 0U;
}

const char* kernel_name(const void* handle) {
  const EngineLock lock;
  const Function* function = live<Function>(handle);
  return function != nullptr ? function->name : nullptr;
}

ApiScope* current_scope() {
  return this_thread().scope;
}

}  // namespace gprofml::simgpu
