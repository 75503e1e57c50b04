#include "test/simgpu/cupti/external_correlation.hpp"

#include <cupti.h>

#include <array>
#include <vector>

#include "test/simgpu/cupti/activity_buffers.hpp"
#include "test/simgpu/cupti/client.hpp"
#include "test/simgpu/cupti/per_thread.hpp"

namespace gprofml::simgpu::cupti {
namespace {

constexpr int kKinds = CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;

using Stacks = std::array<std::vector<std::uint64_t>, kKinds>;

std::vector<std::uint64_t>& ids_of(int kind) {
  return PerThread<Stacks>::get()[static_cast<std::size_t>(kind)];
}

bool is_kind(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < kKinds;
}

}  // namespace

void record_external_ids(std::uint32_t correlation) {
  for (int kind = 1; kind < kKinds; ++kind) {
    const auto& ids = ids_of(kind);
    if (ids.empty()) continue;
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = static_cast<CUpti_ExternalCorrelationKind>(kind);
    record.externalId = ids.back();
    record.correlationId = correlation;
    append(record);
  }
}

}  // namespace gprofml::simgpu::cupti

// --- the interface -----------------------------------------------------------------------------

using namespace gprofml::simgpu::cupti;

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   uint64_t id) {
  if (!is_kind(kind)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  ids_of(kind).push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  uint64_t* last_id) {
  if (!is_kind(kind)) return answer(CUPTI_ERROR_INVALID_PARAMETER);
  auto& ids = ids_of(kind);
  if (ids.empty()) return answer(CUPTI_ERROR_QUEUE_EMPTY);
  if (last_id != nullptr) *last_id = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}
