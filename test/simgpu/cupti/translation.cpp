#include "test/simgpu/cupti/translation.hpp"

#include <mutex>
#include <set>

namespace gprofml::simgpu::cupti {

std::uint8_t copy_kind(CopyKind kind) {
  switch (kind) {
    case CopyKind::host_to_device:
      return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    case CopyKind::device_to_host:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    case CopyKind::device_to_device:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    case CopyKind::host_to_host:
      return CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
    case CopyKind::peer_to_peer:
      return CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
    case CopyKind::host_to_array:
      return CUPTI_ACTIVITY_MEMCPY_KIND_HTOA;
    case CopyKind::array_to_host:
      return CUPTI_ACTIVITY_MEMCPY_KIND_ATOH;
    case CopyKind::array_to_array:
      return CUPTI_ACTIVITY_MEMCPY_KIND_ATOA;
    case CopyKind::array_to_device:
      return CUPTI_ACTIVITY_MEMCPY_KIND_ATOD;
    case CopyKind::device_to_array:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOA;
  }
  return CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
}

std::uint8_t memory_kind(Memory memory) {
  switch (memory) {
    case Memory::unknown:
      return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
    case Memory::pageable:
      return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    case Memory::pinned:
      return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
    case Memory::device:
      return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    case Memory::array:
      return CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
    case Memory::managed:
      return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    case Memory::device_static:
      return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC;
  }
  return CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
}

CUpti_ActivitySynchronizationType synchronization_type(Sync::Type type) {
  switch (type) {
    case Sync::Type::event:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
    case Sync::Type::stream_wait_event:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    case Sync::Type::stream:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    case Sync::Type::context:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
  }
  return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN;
}

CUpti_ActivityStreamFlag stream_flag(StreamInfo::Flag flag) {
  switch (flag) {
    case StreamInfo::Flag::null_stream:
      return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
    case StreamInfo::Flag::non_blocking:
      return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
    case StreamInfo::Flag::blocking:
    case StreamInfo::Flag::per_thread:
      return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
  }
  return CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN;
}

CUpti_CallbackIdResource resource_callback(ResourceEvent::What what) {
  using What = ResourceEvent::What;
  switch (what) {
    case What::context_created:
      return CUPTI_CBID_RESOURCE_CONTEXT_CREATED;
    case What::context_destroy_starting:
      return CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
    case What::stream_created:
      return CUPTI_CBID_RESOURCE_STREAM_CREATED;
    case What::stream_destroy_starting:
      return CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;
    case What::module_loaded:
      return CUPTI_CBID_RESOURCE_MODULE_LOADED;
    case What::module_unload_starting:
      return CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING;
    case What::graph_created:
      return CUPTI_CBID_RESOURCE_GRAPH_CREATED;
    case What::graph_cloned:
      return CUPTI_CBID_RESOURCE_GRAPH_CLONED;
    case What::graph_destroy_starting:
      return CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING;
    case What::graph_exec_created:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
    case What::graph_exec_destroy_starting:
      return CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING;
    case What::node_created:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED;
    case What::node_cloned:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED;
    case What::node_destroy_starting:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING;
    case What::dependency_created:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED;
    case What::dependency_destroy_starting:
      return CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING;
  }
  return CUPTI_CBID_RESOURCE_INVALID;
}

const char* lasting_text(const std::string& text) {
  static std::mutex mutex;
  static auto& texts = *new std::set<std::string>;
  const std::lock_guard lock{mutex};
  return texts.insert(text).first->c_str();
}

const char* chip_name(std::uint32_t major, std::uint32_t minor) {
  struct Chip {
    std::uint32_t major;
    std::uint32_t minor;
    const char* name;
  };
  // One chip a capability, of those that the library lists.
  static constexpr Chip kChips[] = {
      {7, 5, "TU102"}, {8, 0, "GA100"},  {8, 6, "GA102"},  {8, 7, "GA10B"},  {8, 9, "AD102"},
      {9, 0, "GH100"}, {10, 0, "GB100"}, {10, 3, "GB110"}, {12, 0, "GB202"}, {12, 1, "GB20B"},
  };
  for (const Chip& chip : kChips) {
    if (chip.major == major && chip.minor == minor) return chip.name;
  }
  return nullptr;
}

}  // namespace gprofml::simgpu::cupti
