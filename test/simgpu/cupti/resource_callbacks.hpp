// Callbacks of the resource and synchronisation domains.
#pragma once

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

void call_back_resource(const ResourceEvent& event);
void call_back_synchronised(const Sync& sync);

}  // namespace gprofml::simgpu::cupti
