#include "test/simgpu/cupti/initial_records.hpp"

#include <atomic>

#include "test/simgpu/cupti/records.hpp"
#include "test/simgpu/cupti/selection.hpp"
#include "test/simgpu/cupti/subscribers.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

std::atomic<bool> devices_expected{false};
std::atomic<bool> initialisation_noticed{false};

void dump_devices() {
  for (const DeviceInfo& device : devices()) record(device);
}

}  // namespace

void expect_devices() {
  if (!initialisation_noticed) devices_expected = true;
}

void look_for_initialisation() {
  initialisation_noticed = is_initialised();
}

void notice_initialisation() {
  if (initialisation_noticed || !is_initialised() || initialisation_noticed.exchange(true)) return;
  if (wants(CUPTI_ACTIVITY_KIND_DEVICE) && devices_expected.exchange(false)) dump_devices();
  const CUpti_ResourceData nothing{};
  call_back(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, &nothing);
}

void dump_existing(CUpti_ActivityKind kind) {
  if (!is_initialised()) return;
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    devices_expected = false;
    dump_devices();
  }
  if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
    for (const ContextInfo& context : contexts()) record(context);
  }
  if (kind == CUPTI_ACTIVITY_KIND_STREAM) {
    for (const StreamInfo& stream : streams()) record(stream);
  }
}

}  // namespace gprofml::simgpu::cupti
