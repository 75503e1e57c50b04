// What the model file's "faults" ask of the fake CUPTI; README.md has the table. The only place
// that knows the names.
#pragma once

#include <cupti.h>

#include <cstdint>

namespace gprofml::simgpu::cupti {

/// The result that cuptiSubscribe is to give; CUPTI_SUCCESS: no fault.
CUptiResult subscribe_fault();

/// Name of the tool that is said to own the subscription.
const char* subscription_owner_fault();

/// The result that enabling `kind` is to give; CUPTI_SUCCESS: no fault.
CUptiResult enable_fault(CUpti_ActivityKind kind);

/// Whether cuptiActivityFlushAll is never to return.
bool flush_hangs_fault();

/// Message of a fatal error to be told through the state domain; nullptr: none.
const char* fatal_error_fault();

/// Reads the faults that records ask about, for they ask often. Called when buffers are registered.
void read_record_faults();

/// Whether the record that is about to be written is to be dropped instead. Counts records.
bool drops_next_record();

/// Whether the GPU activity that is about to be written lost its timestamps. Counts activities.
bool loses_next_timestamps();

}  // namespace gprofml::simgpu::cupti
