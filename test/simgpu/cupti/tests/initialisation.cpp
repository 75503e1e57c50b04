// A process in which CUPTI is loaded before the driver is initialised: an injection library that
// asks for device records during the initialisation gets them after it, once. A program of its own,
// for this happens once in a process.
#include <cupti.h>

#include <cstdio>

#include "test/simgpu/cupti/tests/session.hpp"

using namespace gprofml::simgpu;

namespace {

int told_of_initialisation = 0;

void listen(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void*) {
  const bool is_it =
      domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED;
  if (is_it) ++told_of_initialisation;
}

bool is(const char* what, std::size_t found, std::size_t expected) {
  if (found != expected) std::printf("%s: %zu, not %zu\n", what, found, expected);
  return found == expected;
}

}  // namespace

int main() {
  test::Session session;
  fake::engine().is_initialised = false;
  fake::engine().devices.resize(2);
  ApiCall init;
  init.domain = ApiCall::Domain::driver;
  init.callback_id = CUPTI_DRIVER_TRACE_CBID_cuInit;
  test::observer().api_enter(init);
  fake::engine().is_initialised = true;
  // Here the driver calls InitializeInjection.
  CUpti_SubscriberHandle subscriber = nullptr;
  test::check(cuptiSubscribe(&subscriber, listen, nullptr));
  test::check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE));
  test::check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE));
  test::check(cuptiActivityFlushAll(0));
  bool good = is("devices during the initialisation", session.records().size(), 0);
  test::observer().api_exit(init);
  test::tell(test::launch_call(1));
  test::check(cuptiActivityFlushAll(0));
  good = is("devices after it", session.records().size(), 2) && good;
  good = is("callbacks", static_cast<std::size_t>(told_of_initialisation), 1) && good;
  test::check(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DEVICE));
  test::tell(test::launch_call(2));
  test::check(cuptiActivityFlushAll(0));
  good = is("devices when asked again", session.records().size(), 2) && good;
  return good ? 0 : 1;
}
