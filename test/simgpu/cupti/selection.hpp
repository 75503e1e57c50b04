// What the client wants recorded: activity kinds, for all or for one context, and single API calls.
#pragma once

#include <cupti.h>

#include <cstdint>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

/// Whether records of `kind` are wanted for a context; the context's own setting comes first.
bool wants(CUpti_ActivityKind kind, std::uint32_t context_id = 0);

/// Whether the call is to have a record: its id is enabled, one by one or with its whole kind.
bool wants_record_of(const ApiCall& call);

/// Whether this counter of managed memory is wanted: the kind is enabled, and it was configured.
bool wants_counter(CUpti_ActivityUnifiedMemoryCounterKind kind);

/// The kind as which kernels are recorded; CUPTI_ACTIVITY_KIND_INVALID: not at all.
CUpti_ActivityKind wanted_kernel_kind(std::uint32_t context_id);

/// Switches that belong to no kind.
struct Options {
  bool latency_timestamps = false;
  bool event_timestamps = false;
  bool unsuccessful_queries = true;
  bool allocation_source = false;
};
Options options();

/// Nothing is wanted any more (cuptiFinalize).
void want_nothing();

}  // namespace gprofml::simgpu::cupti
