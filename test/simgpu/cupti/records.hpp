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

void record(const GraphLaunch& launch);
void record(const MemoryOperation& operation);
void record(const PoolOperation& operation);
void record(const Migration& migration);
void record(const QueueFull& wait);

/// Whether the activity is a node of a graph that is traced as a whole: it has no record then.
bool is_within_whole_graph(const Placement& at);

/// The time that CUPTI itself took to get ready for a context.
void record_context_overhead(const ContextInfo& context, const ApiCall* call);

/// The function behind a kernel, the first time that it runs in a context.
void record_function(const Kernel& kernel);

}  // namespace gprofml::simgpu::cupti
