#include "test/simgpu/cupti/kernel_names.hpp"

#include <array>
#include <cstdio>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "test/simgpu/cupti/faults.hpp"

namespace gprofml::simgpu::cupti {
namespace {

/// Room for one name; a longer one is cut off.
using Slot = std::array<char, 4096>;

struct Names {
  std::mutex mutex;
  std::map<std::pair<std::uint32_t, const char*>, Slot*> slots;  // by module and the engine's name
  std::vector<Slot*> vacant;
};

Names& names() {
  static Names& instance = *new Names;
  return instance;
}

}  // namespace

const char* name_for_client(const Kernel& kernel) {
  if (!reused_names_fault() || kernel.name == nullptr) return kernel.name;
  Names& all = names();
  const std::lock_guard lock{all.mutex};
  Slot*& slot = all.slots[{kernel.module_id, kernel.name}];
  if (slot == nullptr) {
    if (all.vacant.empty()) all.vacant.push_back(new Slot);
    slot = all.vacant.back();
    all.vacant.pop_back();
    std::snprintf(slot->data(), slot->size(), "%s", kernel.name);
  }
  return slot->data();
}

void release_names_of(std::uint32_t module_id) {
  Names& all = names();
  const std::lock_guard lock{all.mutex};
  for (auto name = all.slots.begin(); name != all.slots.end();) {
    if (name->first.first == module_id) {
      all.vacant.push_back(name->second);
      name = all.slots.erase(name);
    } else {
      ++name;
    }
  }
}

}  // namespace gprofml::simgpu::cupti
