// Ids behind handles, and what is known of devices.
#include <cupti.h>
#include <cupti_target.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "test/simgpu/cupti/calls.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/translation.hpp"
#include "test/simgpu/engine/observer.hpp"

using namespace gprofml::simgpu;
using namespace gprofml::simgpu::cupti;

namespace {

/// Puts an id where it is wanted, or says that there is none.
template <typename Id>
CUptiResult give(Id id, Id* target, CUptiResult if_none) {
  if (target == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  if (id == 0) return answer(if_none);
  *target = id;
  return CUPTI_SUCCESS;
}

bool is_default(CUstream stream) {
  return stream == nullptr || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

/// Default streams are of whatever context one asks about.
bool belongs_to(CUstream stream, CUcontext context) {
  if (context == nullptr || is_default(stream)) return true;
  const std::vector<StreamInfo> all = streams();
  return std::any_of(all.begin(), all.end(), [&](const StreamInfo& candidate) {
    return candidate.handle == stream && candidate.context_id == context_id_of(context);
  });
}

std::optional<DeviceInfo> find_device(CUdevice handle) {
  for (DeviceInfo& device : devices()) {
    if (device.handle == handle) return std::move(device);
  }
  return std::nullopt;
}

}  // namespace

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  const std::uint32_t found = context == nullptr ? 0 : context_id_of(context);
  return give(found, id, CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  if (id == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  const CUcontext meant = context != nullptr ? context : current_context();
  for (const ContextInfo& candidate : contexts()) {
    if (candidate.handle != meant) continue;
    *id = candidate.device;
    return CUPTI_SUCCESS;
  }
  return answer(CUPTI_ERROR_INVALID_DEVICE);
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t per_thread_stream,
                               uint32_t* id) {
  if (id == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  if (!belongs_to(stream, context)) return answer(CUPTI_ERROR_INVALID_STREAM);
  // Default streams have no handle of their own that would say whose they are.
  const CUcontext meant = context == nullptr && is_default(stream) ? current_context() : context;
  return give(stream_id_of(meant, stream, per_thread_stream != 0), id, CUPTI_ERROR_INVALID_STREAM);
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t* id) {
  return cuptiGetStreamIdEx(context, stream, 0, id);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  return give(graph == nullptr ? 0 : graph_id_of(graph), id, CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graph, uint32_t* id) {
  return give(graph == nullptr ? 0 : graph_exec_id_of(graph), id, CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  return give(node == nullptr ? 0 : graph_node_id_of(node), id, CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiComputeCapabilitySupported(int major, int minor, int* support) {
  if (support == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  // What version 13.0 says of each; it has 11.0 too, which no chip here is.
  const bool known =
      major >= 0 && minor >= 0 &&
      chip_name(static_cast<std::uint32_t>(major), static_cast<std::uint32_t>(minor)) != nullptr;
  *support = known || (major == 11 && minor == 0) ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceSupported(CUdevice handle, int* support) {
  if (support == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  const auto device = find_device(handle);
  if (!device) return answer(CUPTI_ERROR_INVALID_DEVICE);
  *support = chip_name(device->compute_major, device->compute_minor) != nullptr ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceVirtualizationMode(CUdevice handle, CUpti_DeviceVirtualizationMode* mode) {
  if (mode == nullptr) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  if (!find_device(handle)) return answer(CUPTI_ERROR_INVALID_DEVICE);
  *mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* parameters) {
  if (parameters == nullptr ||
      parameters->structSize < CUpti_Device_GetChipName_Params_STRUCT_SIZE) {
    return answer(CUPTI_ERROR_INVALID_PARAMETER);
  }
  for (const DeviceInfo& device : devices()) {
    if (device.ordinal != parameters->deviceIndex) continue;
    parameters->pChipName = chip_name(device.compute_major, device.compute_minor);
    const bool known = parameters->pChipName != nullptr;
    return answer(known ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_SUPPORTED);
  }
  return answer(CUPTI_ERROR_INVALID_DEVICE);
}
