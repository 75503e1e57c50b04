#include "test/simgpu/cupti/control.hpp"

#include <cupti.h>
#include <dlfcn.h>

#include <atomic>
#include <cstring>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/names.hpp"
#include "test/simgpu/cupti/selection.hpp"
#include "test/simgpu/cupti/subscribers.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

/// nullptr: no result of this version.
const char* result_name(CUptiResult result) {
  for (std::size_t i = 0; i < kResultNames.size; ++i) {
    if (kResultNames.names[i].code == static_cast<int>(result)) return kResultNames.names[i].name;
  }
  return nullptr;
}

const char* callback_name(CUpti_CallbackDomain domain, std::uint32_t id) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return kDriverNames.at(id);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) return kRuntimeNames.at(id);
  return nullptr;
}

/// The same code is also linked as libcupti.so.12, which then says that it is CUPTI of CUDA 12.8.
constexpr std::uint32_t kVersionOf12 = 26;

std::uint32_t version_of_this_library() {
  if (const std::uint32_t version = version_fault(); version != 0) return version;
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&version_of_this_library), &self);
  const bool is_12 =
      self.dli_fname != nullptr && std::strstr(self.dli_fname, "libcupti.so.12") != nullptr;
  return is_12 ? kVersionOf12 : std::uint32_t{CUPTI_API_VERSION};
}

void detach() {
  want_nothing();
  forget_subscriber();
  abandon_buffers();
  client().buffer_requested = nullptr;
  client().timestamp = nullptr;
}

}  // namespace

void tell_fatal_error_once() {
  static std::atomic<bool> told{false};
  if (!wants_callback(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR) || told) return;
  const char* message = fatal_error_fault();
  if (message == nullptr || told.exchange(true)) return;
  CUpti_StateData data{};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  data.notification.message = message;
  call_back(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
  detach();
}

}  // namespace gprofml::simgpu::cupti

// --- the interface -----------------------------------------------------------------------------

using namespace gprofml::simgpu::cupti;

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  *version = version_of_this_library();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  if (text == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  const char* name = result_name(result);
  *text = name != nullptr ? name : "<unknown>";
  return answer(name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

// The real one has sentences for a few codes and the code's name for the others.
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  if (text == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  const char* name = result_name(result);
  *text = name != nullptr ? name : "<unknown>";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetLastError(void) {
  return take_last_error();
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (timestamp == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  const auto own_clock = client().timestamp.load();
  *timestamp = own_clock != nullptr ? own_clock() : client_time(gprofml::simgpu::now_ns());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  if (function == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  client().timestamp = function;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char** name) {
  if (name == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  *name = callback_name(domain, id);
  return answer(*name != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  const bool known =
      type == CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT || type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  if (!known) return answer(CUPTI_ERROR_NOT_SUPPORTED);
  client().thread_id_type = type;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  *type = client().thread_id_type;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void) {
  detach();
  return CUPTI_SUCCESS;
}

extern "C" {

/// By its presence: this is not NVIDIA's library.
[[gnu::visibility("default")]] extern const int gprofml_simulated = 1;

/// NVTX through CUPTI is not simulated: 0 says so, and NVTX calls stay without effect.
int InitializeInjectionNvtx2(void*) {
  return 0;
}
int InitializeInjectionNvtx(void*) {
  return 0;
}
}
