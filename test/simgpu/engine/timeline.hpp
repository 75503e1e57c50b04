// When things run on the simulated GPU. A stream is in order; streams overlap freely and do not
// slow each other down; the NULL stream and the streams that block with it wait for each other.
// Start and end of everything are known when it is submitted. All of it needs the engine's lock
// unless said otherwise.
#pragma once

#include <string>

#include "test/simgpu/engine/objects.hpp"

namespace gprofml::simgpu {

class EngineLock;

/// When and after which effects the next thing on this stream could start.
struct Ready {
  std::int64_t time_ns = 0;
  Pending after;
};
Ready ready(const Stream& stream);

/// What came of a submission.
struct Submitted {
  std::int64_t end_ns = 0;
  Pending pending;
  bool captured = false;  ///< it went into a graph and has not run
};

/// Puts an operation on a stream, or into the graph into which the stream is captured.
CUresult submit(Stream& stream, Operation operation, Submitted* submitted = nullptr);

/// Runs an operation at `start_ns` (earliest), tells and logs it. Returns its end and leaves in
/// `after` what its successors wait for.
std::int64_t execute(Operation& operation, Stream& stream, Placement at, Pending& after,
                     bool queue_effects);

/// A stream's work now ends here.
void occupy(Stream& stream, std::int64_t end_ns, const Pending& pending);

/// Records an event on a stream, outside of captures.
void record_event(Event& event, Stream& stream, std::int64_t time_ns, const Pending& pending,
                  std::uint32_t correlation);

/// Waits for a time and effects as a synchronising call does, tells and logs it. Releases the lock.
void synchronise(EngineLock& lock, Sync sync, std::int64_t until_ns, const Pending& pending);

/// The stream waits for the event's latest record.
void stream_wait_event(Stream& stream, const Event& event);

/// Lazy loading: the first launch of a kernel in a context takes longer.
void load_function(Context& context, Function& function);

/// Members of a log line and its end: where and from which call an activity ran.
std::string placement_json(const Placement& at);

/// Correlation id of the innermost call, 0 outside.
std::uint32_t correlation_now();

}  // namespace gprofml::simgpu
