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

/// The version that cuptiGetVersion is to give; 0: the headers'.
std::uint32_t version_fault();

/// Threads that give buffers back.
std::size_t completion_threads_fault();

/// The clock's step: from `at_ns` of the engine's time on CUPTI's clock is `by_ns` ahead.
struct ClockStep {
  std::int64_t at_ns = 0;
  std::int64_t by_ns = 0;
};
ClockStep clock_step_fault();

// --- what records ask about ----------------------------------------------------------------------

/// Reads the faults below, for records ask often. Called when buffers are registered.
void read_record_faults();

/// Whether the record that is about to be written is to be dropped instead. Counts records.
bool drops_next_record();

/// What is wrong with the times of the GPU activity that is about to be written. Counts activities.
enum class TimesFault : std::uint8_t {
  none,
  zero,      ///< start = end = 0
  reversed,  ///< end before start
  early      ///< start before the call that launched it
};
TimesFault next_times_fault();

/// Bytes by which each record is longer than this version's, a multiple of 8.
std::size_t longer_records_fault();

/// Whether a record of a kind that this version has not got follows the one just written.
bool unknown_kind_follows();

/// Whether there are such records at all.
bool has_unknown_kind();

/// Records that are held back and written in another order; 0: none.
std::size_t shuffled_records_fault();

/// Whether the last GPU activity of a buffer is incomplete in a forced flush.
bool incomplete_at_forced_flush_fault();

/// Whether buffers come back at forced flushes only.
bool buffers_held_fault();

/// Whether a context takes along what was not delivered when it is destroyed.
bool context_loses_records_fault();

/// Whether the names of an unloaded module's kernels give way to those of the next one.
bool reused_names_fault();

}  // namespace gprofml::simgpu::cupti
