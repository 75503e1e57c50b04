#include "test/simgpu/engine/migration.hpp"

#include <fmt/format.h>

#include <atomic>
#include <map>

#include "test/simgpu/engine/engine_lock.hpp"
#include "test/simgpu/engine/log.hpp"
#include "test/simgpu/engine/memory.hpp"
#include "test/simgpu/engine/timeline.hpp"

namespace gprofml::simgpu {
namespace {

/// By base address, so that they move in the same order run over run.
struct Managed {
  std::set<std::uint64_t> on_host;
  std::map<std::uint64_t, std::uint32_t> on_device;  // which device
  // Spares programs without managed memory the lock at each synchronisation.
  std::atomic<bool> any_on_device{false};
};

Managed& managed() {
  static auto* all = new Managed;
  return *all;
}

void tell_migration(const Migration& told) {
  if (log_wanted()) {
    log_line(fmt::format(
        R"({{"type":"migration","direction":"{}","cause":"{}","address":{},"bytes":{},"device":{},)"
        R"("start":{},"end":{},"correlation":{},"thread":{}}})",
        told.to_device ? "host_to_device" : "device_to_host",
        told.cause == Migration::Cause::prefetch ? "prefetch" : "access", told.address, told.bytes,
        told.device, told.start_ns, told.end_ns, correlation_now(), this_thread().ordinal));
  }
  tell([told](Observer& observer) { observer.migrated(told); });
}

/// Moves a whole allocation from `start_ns` on; returns the transfer's end.
std::int64_t move(std::uint64_t base, bool to_device, std::uint32_t device, std::int64_t start_ns) {
  const Allocation* allocation = allocation_at(base);
  Migration told;
  told.to_device = to_device;
  told.address = base;
  told.bytes = allocation->bytes;
  told.device = device;
  told.start_ns = start_ns;
  const Transfer& cost = to_device ? model().pinned_to_device : model().device_to_pinned;
  told.end_ns = start_ns + cost.duration_ns(told.bytes);
  tell_migration(told);
  return told.end_ns;
}

}  // namespace

void expect_migration(std::uint64_t base) {
  if (base != 0 && model().managed_migrations > 0) {
    managed().on_host.insert(base);
  }
}

void forget_migration(std::uint64_t base) {
  managed().on_host.erase(base);
  managed().on_device.erase(base);
}

void migrate_for_kernel(const Placement& at) {
  Managed& all = managed();
  std::int64_t start_ns = at.start_ns;
  for (const std::uint64_t base : all.on_host) {
    start_ns = move(base, true, at.device, start_ns);
    if (model().managed_migrations > 1) {
      all.on_device[base] = at.device;
      all.any_on_device = true;
    }
  }
  all.on_host.clear();
}

void migrate_by_prefetch(Migration migration) {
  migration.cause = Migration::Cause::prefetch;
  forget_migration(allocation_of(migration.address)->base);
  tell_migration(migration);
}

void migrate_to_host() {
  Managed& all = managed();
  if (!all.any_on_device.exchange(false)) {
    return;
  }
  const EngineLock lock;
  std::int64_t start_ns = now_ns();
  for (const auto& [base, device] : all.on_device) {
    start_ns = move(base, false, device, start_ns);
  }
  all.on_device.clear();
}

}  // namespace gprofml::simgpu
