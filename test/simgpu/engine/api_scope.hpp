// One call of the program into the runtime or driver, from entry to exit: its time, its correlation
// id, what the observer and the log are told about it.
#pragma once

#include <cstdint>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu {

/// What an entry point is.
struct ApiId {
  ApiCall::Domain domain = ApiCall::Domain::runtime;
  std::uint32_t callback_id = 0;
  const char* name = nullptr;       ///< as CUPTI says it: cudaLaunchKernel_v7000
  const char* cost_name = nullptr;  ///< as the model says it: cudaLaunchKernel
  bool per_thread = false;          ///< a _ptsz or _ptds twin: stream 0 is the thread's own
};

class ApiScope {
 public:
  ApiScope(const ApiId& id, const void* parameters, const char* symbol);
  ApiScope(const ApiScope&) = delete;
  ApiScope& operator=(const ApiScope&) = delete;
  ~ApiScope();

  /// The call's result; it ends when the scope does.
  void set_result(std::uint32_t result) { call_.result = result; }
  bool per_thread() const { return id_.per_thread; }
  const ApiId& id() const { return id_; }
  /// For resource events; nullptr-safe use is the caller's.
  const ApiCall& call() const { return call_; }

 private:
  void refresh_context();

  ApiId id_;
  ApiCall call_;
  ApiScope* outer_;
  std::int64_t own_cost_ns_;
};

/// Why no call can be made at all, 0 when it can: in the child of a fork after CUDA was
/// initialised, and inside host functions.
std::uint32_t refusal();

/// The innermost call of this thread, nullptr outside.
ApiScope* current_scope();

/// A kernel's name by its handle; nullptr: no such kernel.
const char* kernel_name(const void* handle);

/// A call as an entry point makes it: `body` does the work. `symbol` is the kernel's name of a
/// launch.
template <class Result, class Parameters, class Body>
Result api(const ApiId& id, const Parameters& parameters, Body&& body,
           const char* symbol = nullptr) {
  if (const std::uint32_t refused = refusal(); refused != 0) {
    return static_cast<Result>(refused);
  }
  ApiScope scope(id, &parameters, symbol);
  const Result result = body();
  scope.set_result(static_cast<std::uint32_t>(result));
  return result;
}

}  // namespace gprofml::simgpu
