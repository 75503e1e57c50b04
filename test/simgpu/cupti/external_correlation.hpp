// External correlation ids: a stack a kind and thread, pushed and popped by the client.
#pragma once

#include <cstdint>

namespace gprofml::simgpu::cupti {

/// One record for each kind of id that the calling thread is within, for the API record to follow.
void record_external_ids(std::uint32_t correlation);

}  // namespace gprofml::simgpu::cupti
