#include "test/simgpu/cupti/subscribers.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "test/simgpu/cupti/attachment.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/faults.hpp"

namespace {

constexpr std::size_t kDomains = CUPTI_CB_DOMAIN_SIZE;
constexpr std::size_t kMostIds = CUPTI_DRIVER_TRACE_CBID_SIZE;  // the domain with the most
static_assert(std::size_t{CUPTI_RUNTIME_TRACE_CBID_SIZE} <= kMostIds);

}  // namespace

// Named by the headers, opaque to clients.
struct CUpti_Subscriber_st {
  std::string name;
  CUpti_CallbackFunc function = nullptr;
  void* user_data = nullptr;
  std::atomic<bool> wanted[kDomains][kMostIds] = {};
  CUpti_Subscriber_st* former = nullptr;
};

namespace gprofml::simgpu::cupti {
namespace {

std::atomic<CUpti_Subscriber_st*> subscriber{nullptr};

// A subscriber is not freed when it goes: a callback may be under way on another thread.
std::atomic<CUpti_Subscriber_st*> former_subscribers{nullptr};

/// Takes `handle` away if it is the subscriber.
bool retire(CUpti_SubscriberHandle handle) {
  CUpti_Subscriber_st* expected = handle;
  if (handle == nullptr || !subscriber.compare_exchange_strong(expected, nullptr)) return false;
  handle->former = former_subscribers.load();
  while (!former_subscribers.compare_exchange_weak(handle->former, handle)) {
  }
  return true;
}

/// Number of callback ids of a domain; 0: no such domain.
std::size_t ids_of(CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return CUPTI_CBID_RESOURCE_SIZE;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return CUPTI_CBID_SYNCHRONIZE_SIZE;
    case CUPTI_CB_DOMAIN_NVTX:
      return CUPTI_CBID_NVTX_SIZE;
    case CUPTI_CB_DOMAIN_STATE:
      return CUPTI_CBID_STATE_SIZE;
    default:
      return 0;
  }
}

bool is_current(CUpti_SubscriberHandle handle) {
  return handle != nullptr && handle == subscriber.load();
}

void copy_name(const std::string& name, CUpti_SubscriberParams* parameters) {
  if (parameters == nullptr || parameters->oldSubscriberName == nullptr ||
      parameters->oldSubscriberSize == 0) {
    return;
  }
  const std::size_t length = std::min(name.size(), parameters->oldSubscriberSize - 1);
  std::memcpy(parameters->oldSubscriberName, name.data(), length);
  parameters->oldSubscriberName[length] = '\0';
}

std::string full_name(const CUpti_SubscriberParams* parameters) {
  if (parameters == nullptr || parameters->subscriberName == nullptr) return "CUPTI";
  const std::string name = parameters->subscriberName;
  return "CUPTI for " + name.substr(0, CUPTI_SUBSCRIBER_NAME_MAX_LEN);
}

CUptiResult subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function, void* user_data,
                      CUpti_SubscriberParams* parameters) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (const CUptiResult fault = subscribe_fault(); fault != CUPTI_SUCCESS) {
    if (fault == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) {
      copy_name(subscription_owner_fault(), parameters);
    }
    return fault;
  }
  if (!attach_to_engine()) {
    copy_name("a CUPTI of another version", parameters);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  auto* made = new CUpti_Subscriber_st;
  made->name = full_name(parameters);
  made->function = function;
  made->user_data = user_data;
  CUpti_Subscriber_st* owner = nullptr;
  if (!subscriber.compare_exchange_strong(owner, made)) {
    delete made;
    copy_name(owner->name, parameters);
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  mark_in_use();
  *handle = made;
  return CUPTI_SUCCESS;
}

CUptiResult enable_domain(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain, bool enable) {
  if (!is_current(handle) || ids_of(domain) == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t id = 1; id < ids_of(domain); ++id) handle->wanted[domain][id] = enable;
  return CUPTI_SUCCESS;
}

bool is_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return id != 0 && id < ids_of(domain);
}

}  // namespace

bool wants_callback(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (in_forked_child() || !is_callback(domain, id)) return false;
  const CUpti_Subscriber_st* current = subscriber.load(std::memory_order_acquire);
  return current != nullptr && current->wanted[domain][id].load(std::memory_order_relaxed);
}

void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (!wants_callback(domain, id)) return;
  const CUpti_Subscriber_st* current = subscriber.load(std::memory_order_acquire);
  if (current != nullptr && current->function != nullptr) {
    current->function(current->user_data, domain, id, data);
  }
}

bool has_client() {
  return subscriber.load() != nullptr;
}

void forget_subscriber() {
  retire(subscriber.load());
}

}  // namespace gprofml::simgpu::cupti

// --- the interface -----------------------------------------------------------------------------

using namespace gprofml::simgpu::cupti;

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                           void* userdata) {
  return answer(subscribe(handle, callback, userdata, nullptr));
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                              void* userdata, CUpti_SubscriberParams* parameters) {
  const bool unsized =
      parameters != nullptr && parameters->structSize < CUpti_SubscriberParams_STRUCT_SIZE;
  if (unsized) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  return answer(subscribe(handle, callback, userdata, parameters));
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  return answer(retire(handle) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetCallbackState(uint32_t* enable, CUpti_SubscriberHandle handle,
                                  CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (enable == nullptr || !is_current(handle) || !is_callback(domain, id)) {
    return answer(CUPTI_ERROR_INVALID_PARAMETER);
  }
  *enable = handle->wanted[domain][id] ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (!is_current(handle) || !is_callback(domain, id)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  handle->wanted[domain][id] = enable != 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain) {
  return answer(enable_domain(handle, domain, enable != 0));
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle) {
  if (!is_current(handle)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  for (int domain = 1; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    enable_domain(handle, static_cast<CUpti_CallbackDomain>(domain), enable != 0);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSupportedDomains(size_t* count, CUpti_DomainTable* table) {
  static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_CB_DOMAIN_RUNTIME_API,
                                           CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE,
                                           CUPTI_CB_DOMAIN_STATE};
  if (count == nullptr || table == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  *count = std::size(domains);
  *table = domains;
  return CUPTI_SUCCESS;
}
