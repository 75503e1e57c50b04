// How every record begins.
#pragma once

#include <cupti.h>

#include <cstring>

namespace gprofml::simgpu::cupti {

/// All bytes zero, padding too, as in a zeroed buffer.
template <typename Record>
Record zeroed(CUpti_ActivityKind kind) {
  Record record;
  std::memset(&record, 0, sizeof record);
  record.kind = kind;
  return record;
}

}  // namespace gprofml::simgpu::cupti
