// What the engine tells, as activity records: each goes to the calling thread's buffer if its kind
// is wanted.
#pragma once

#include <cstdint>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu::cupti {

void record(const ApiCall& call);  ///< at its exit, with external correlation ids before it
void record(const Kernel& kernel);
void record(const Copy& copy);
void record(const Fill& fill);
void record(const EventRecord& event);
void record(const Sync& sync);
void record(const DeviceInfo& device);
void record(const ContextInfo& context);
void record(const StreamInfo& stream);

/// One launch of an executable graph as a whole.
struct GraphLaunch {
  Placement first;  ///< of the node that starts first
  Placement last;   ///< of the node that ends last
};
void record(const GraphLaunch& launch);

/// The time that CUPTI itself took to get ready for a context.
void record_context_overhead(const ContextInfo& context, const ApiCall* call);

/// The function behind a kernel, the first time that it runs in a context.
void record_function(const Kernel& kernel);

}  // namespace gprofml::simgpu::cupti
