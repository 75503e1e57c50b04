// An Execution as a recorder would have seen it, in the trace model.
#pragma once

#include <cstdint>
#include <string>

#include "libprofile/trace/trace.hpp"
#include "test/synth/execution.hpp"

namespace gprofml::synth {

/// What the recorder records.
struct RecordOptions {
  bool sync_records = true;   ///< synchronisation records (Kineto: cuda_sync events)
  bool event_records = true;  ///< those name the cudaEventRecord and the stream they wait for
  std::int64_t rank = profile::kUnknown;
  std::string host;
};

/// The execution as a canonical, resolved Trace. Signals and waits between threads leave no record.
profile::Trace to_trace(const Execution& execution, const RecordOptions& options = {});

/// The kind of API a call belongs to, by its name: cuLaunchKernel is a driver call, cudaMalloc is
/// not.
profile::ApiKind api_kind(const std::string& call_name);

}  // namespace gprofml::synth
