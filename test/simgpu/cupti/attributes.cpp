// Activity attributes. Two of them change what happens here; the others are kept and given back.
#include <cupti.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/client.hpp"

namespace {

struct Attribute {
  CUpti_ActivityAttribute id;
  std::size_t size;  ///< of the value, in bytes
  std::uint64_t value;
};

std::mutex mutex;

// Defaults as documented. The semaphore pools are gone since CUDA 12.3.
Attribute attributes[] = {
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, sizeof(std::size_t), 3'200'000},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP, sizeof(std::size_t), 8'388'608},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, sizeof(std::size_t), 250},
    {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(std::uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, sizeof(std::size_t), 3},
    {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, sizeof(std::uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, sizeof(std::uint8_t), 1},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS, sizeof(std::size_t), 16'777'216},
};

/// CUPTI_SUCCESS and the attribute, or what is wrong.
CUptiResult find(CUpti_ActivityAttribute id, const std::size_t* size, const void* value,
                 Attribute** found) {
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *found = std::find_if(std::begin(attributes), std::end(attributes),
                        [id](const Attribute& attribute) { return attribute.id == id; });
  if (*found == std::end(attributes)) {
    const bool once_was = id >= 0 && id <= CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS;
    return once_was ? CUPTI_ERROR_NOT_SUPPORTED : CUPTI_ERROR_INVALID_PARAMETER;
  }
  return *size < (*found)->size ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
}

}  // namespace

using namespace gprofml::simgpu::cupti;

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute id, size_t* size, void* value) {
  const std::lock_guard lock{mutex};
  Attribute* attribute = nullptr;
  const CUptiResult result = find(id, size, value, &attribute);
  if (result != CUPTI_SUCCESS) return answer(result);
  std::memcpy(value, &attribute->value, attribute->size);
  *size = attribute->size;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute id, size_t* size, void* value) {
  const std::lock_guard lock{mutex};
  Attribute* attribute = nullptr;
  const CUptiResult result = find(id, size, value, &attribute);
  if (result != CUPTI_SUCCESS) return answer(result);
  attribute->value = 0;
  std::memcpy(&attribute->value, value, attribute->size);
  const bool flag = attribute->value != 0;
  if (id == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) use_buffer_per_thread(flag);
  if (id == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) trust_zeroed_buffers(flag);
  return CUPTI_SUCCESS;
}
