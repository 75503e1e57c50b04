// The engine's words in CUPTI's.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

std::uint8_t copy_kind(CopyKind kind);
std::uint8_t memory_kind(Memory memory);
CUpti_ActivitySynchronizationType synchronization_type(Sync::Type type);
CUpti_ActivityStreamFlag stream_flag(StreamInfo::Flag flag);
CUpti_CallbackIdResource resource_callback(ResourceEvent::What what);

/// The same text at an address that stays valid; records point at names.
const char* lasting_text(const std::string& text);

/// Name of the chip with this compute capability, as cuptiDeviceGetChipName gives it; nullptr:
/// unknown.
const char* chip_name(std::uint32_t major, std::uint32_t minor);

}  // namespace gprofml::simgpu::cupti
