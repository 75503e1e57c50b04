// A trace with one kind of knowledge taken out, as a recording with fewer switches would have it.
// All other rows, and the references between them, stay as they are.
#pragma once

#include <cstdint>

#include "libprofile/trace/trace.hpp"

namespace gprofml::synth {

/// No API calls; what referred to them refers to nothing.
profile::Trace without_api_calls(profile::Trace trace);

/// No synchronisation records.
profile::Trace without_sync_records(profile::Trace trace);

/// No ranges: no ops, annotations, NVTX or python frames.
profile::Trace without_ranges(profile::Trace trace);

/// No correlation ids anywhere, and so no row knows its call. Calls stay.
profile::Trace without_correlation_ids(profile::Trace trace);

struct FewerKernels {
  profile::Trace trace;
  std::int64_t kernels_removed = 0;
  std::int64_t submissions_without_work = 0;  ///< calls that had GPU work, and now have none
};

/// Without a share of the kernels, each drawn by the seed with `percent` probability.
FewerKernels without_some_kernels(const profile::Trace& trace, int percent, std::uint64_t seed);

}  // namespace gprofml::synth
