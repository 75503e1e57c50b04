// Records as a newer CUPTI would make them: of a kind that this version's headers do not have, or
// longer than its structs. Faults ask for them; cuptiActivityGetNextRecord knows their length, as
// that of the newer library would.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gprofml::simgpu::cupti {

inline constexpr auto kUnknownKind = static_cast<CUpti_ActivityKind>(CUPTI_ACTIVITY_KIND_COUNT + 7);

struct UnknownRecord {
  CUpti_ActivityKind kind = kUnknownKind;
  std::uint32_t content[9] = {0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5,
                              0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5, 0xa5a5a5a5};
};
static_assert(sizeof(UnknownRecord) % 8 == 0);

/// What the bytes are that a newer version has added at a record's end.
inline constexpr std::uint8_t kAddedByte = 0xa5;

}  // namespace gprofml::simgpu::cupti
