// The engine's observer: turns each thing it tells into callbacks and records. A record of a call
// is written before the subscriber hears of the call's end, so that what the subscriber undoes
// there (an external correlation id, say) still held for it.
#include <cupti.h>

#include <atomic>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/attachment.hpp"
#include "test/simgpu/cupti/calls.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/control.hpp"
#include "test/simgpu/cupti/faults.hpp"
#include "test/simgpu/cupti/initial_records.hpp"
#include "test/simgpu/cupti/kernel_names.hpp"
#include "test/simgpu/cupti/records.hpp"
#include "test/simgpu/cupti/resource_callbacks.hpp"
#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {
namespace {

class CuptiObserver final : public Observer {
 public:
  bool is_in_use() const override { return has_client(); }

  void api_enter(const ApiCall& call) override {
    if (in_forked_child()) return;
    notice_initialisation();
    call_began(call);
  }

  void api_exit(const ApiCall& call) override {
    if (in_forked_child()) return;
    notice_initialisation();
    record(call);
    call_ended(call);
    tell_fatal_error_once();
  }

  void submitted(const Kernel& kernel) override {
    record_function(kernel);
    if (!is_within_whole_graph(kernel.at)) record(kernel);
  }

  void submitted(const Copy& copy) override {
    if (!is_within_whole_graph(copy.at)) record(copy);
  }

  void submitted(const Fill& fill) override {
    if (!is_within_whole_graph(fill.at)) record(fill);
  }

  void recorded(const EventRecord& event) override { record(event); }
  void changed(const MemoryOperation& operation) override { record(operation); }
  void changed(const PoolOperation& operation) override { record(operation); }
  void launched(const GraphLaunch& launch) override { record(launch); }
  void migrated(const Migration& migration) override { record(migration); }
  void waited(const QueueFull& wait) override { record(wait); }

  void synchronised(const Sync& sync) override {
    record(sync);
    call_back_synchronised(sync);
  }

  void resource(const ResourceEvent& event) override {
    notice_initialisation();
    using What = ResourceEvent::What;
    if (event.what == What::context_created && event.context != nullptr) {
      record_context_overhead(*event.context, event.call);
      record(*event.context);
    }
    if (event.what == What::module_unload_starting) release_names_of(event.module_id);
    if (event.what == What::context_destroy_starting && context_loses_records_fault()) {
      collect(Flush::lost);
    }
    if (event.what == What::stream_created && event.stream != nullptr) record(*event.stream);
    call_back_resource(event);
  }
};

CuptiObserver& observer_of_this_library() {
  static CuptiObserver& observer = *new CuptiObserver;
  return observer;
}

[[gnu::constructor]] void observe_engine() {
  look_for_initialisation();
  if (current_observer() == nullptr) set_observer(&observer_of_this_library());
}

}  // namespace

bool attach_to_engine() {
  Observer* own = &observer_of_this_library();
  Observer* other = current_observer();
  if (other != nullptr && other != own && other->is_in_use()) return false;
  set_observer(own);
  return true;
}

}  // namespace gprofml::simgpu::cupti
