// Launch records by correlation id: sort the calls of a process by (id, start), then one binary
// search an activity.
#include <algorithm>
#include <limits>
#include <utility>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {
namespace {

// Small, since there is one for each call: the start stands in the call's row and is looked at
// where ids are equal.
struct Candidate {
  std::int64_t correlation;
  RowIndex process;
  RowIndex call;
};

class CallIndex {
 public:
  explicit CallIndex(const Trace& trace) : trace_(trace) {
    const ApiCallColumns& calls = trace.api_calls;
    const auto without_id =
        std::count(calls.correlation.begin(), calls.correlation.end(), kUnknown);
    candidates_.reserve(calls.size() - static_cast<std::size_t>(without_id));
    for (RowIndex row = 0; row < calls.size(); ++row) {
      if (calls.correlation[row] == kUnknown) continue;
      candidates_.push_back(
          {calls.correlation[row], trace.threads[calls.thread[row]].process, row});
    }
    const auto before = [this](const Candidate& a, const Candidate& b) { return less(a, b); };
    if (!std::is_sorted(candidates_.begin(), candidates_.end(), before))
      std::sort(candidates_.begin(), candidates_.end(), before);
    drop_nested();
  }

  /// The call with this id that started last at or before `time_ns`, else the first with the id.
  RowIndex find(RowIndex process, std::int64_t correlation, Nanoseconds time_ns) const {
    const auto same_id = [&](const Candidate& c) {
      return c.process == process && c.correlation == correlation;
    };
    const auto after =
        std::partition_point(candidates_.begin(), candidates_.end(), [&](const Candidate& c) {
          if (c.process != process) return c.process < process;
          if (c.correlation != correlation) return c.correlation < correlation;
          return start_of(c) <= time_ns;
        });
    if (after != candidates_.begin() && same_id(*(after - 1))) return (after - 1)->call;
    if (after != candidates_.end() && same_id(*after)) return after->call;
    return kNoRow;
  }

 private:
  Nanoseconds start_of(const Candidate& candidate) const {
    return trace_.api_calls.start_ns[candidate.call];
  }
  Nanoseconds end_of(const Candidate& candidate) const {
    return trace_.api_calls.end_ns[candidate.call];
  }
  RowIndex thread_of(const Candidate& candidate) const {
    return trace_.api_calls.thread[candidate.call];
  }

  // By process, id and start; outer calls before the calls they hold.
  bool less(const Candidate& a, const Candidate& b) const {
    if (a.process != b.process) return a.process < b.process;
    if (a.correlation != b.correlation) return a.correlation < b.correlation;
    if (start_of(a) != start_of(b)) return start_of(a) < start_of(b);
    if (end_of(a) != end_of(b)) return end_of(a) > end_of(b);
    return std::pair(thread_of(a), a.call) < std::pair(thread_of(b), b.call);
  }

  // Of calls with one id that lie inside each other on one thread (a runtime call and the driver
  // call it makes) keeps the outermost.
  void drop_nested() {
    auto kept = candidates_.begin();
    for (auto first = candidates_.begin(); first != candidates_.end();) {
      const auto last = std::find_if(first + 1, candidates_.end(), [&](const Candidate& c) {
        return c.process != first->process || c.correlation != first->correlation;
      });
      kept = last == first + 1 ? std::copy(first, last, kept) : keep_outermost(first, last, kept);
      first = last;
    }
    candidates_.erase(kept, candidates_.end());
  }

  using Position = std::vector<Candidate>::iterator;

  // [first, last) share an id; those that stay are moved to `kept`, in order, and its new end is
  // returned. Thread by thread an enclosing call comes before what it holds.
  Position keep_outermost(Position first, Position last, Position kept) const {
    std::vector<Candidate> group(first, last);
    std::stable_sort(group.begin(), group.end(), [this](const Candidate& a, const Candidate& b) {
      return thread_of(a) < thread_of(b);
    });
    const Position outer_begin = kept;
    for (const Candidate& call : group) {
      const bool nested = kept != outer_begin && thread_of(*(kept - 1)) == thread_of(call) &&
                          end_of(call) <= end_of(*(kept - 1));
      if (!nested) *kept++ = call;
    }
    std::sort(outer_begin, kept,
              [this](const Candidate& a, const Candidate& b) { return less(a, b); });
    return kept;
  }

  const Trace& trace_;
  std::vector<Candidate> candidates_;  // sorted
};

void resolve_activities(const Trace& trace, const CallIndex& calls, ActivityColumns& activities) {
  for (std::size_t row = 0; row < activities.size(); ++row) {
    if (activities.correlation[row] == kUnknown) continue;
    activities.launch[row] = calls.find(trace.process_of_stream(activities.stream[row]),
                                        activities.correlation[row], activities.start_ns[row]);
  }
}

// A synchronisation names its process through its stream or device; in a trace of one process
// through neither.
RowIndex process_of_sync(const Trace& trace, RowIndex row) {
  if (trace.syncs.stream[row] != kNoRow) return trace.process_of_stream(trace.syncs.stream[row]);
  if (trace.syncs.event_stream[row] != kNoRow)
    return trace.process_of_stream(trace.syncs.event_stream[row]);
  if (trace.processes.size() == 1) return 0;
  const RowIndex device = trace.syncs.device[row];
  return device == kNoRow ? kNoRow : trace.devices[device].process;
}

void resolve_syncs(Trace& trace, const CallIndex& calls,
                   const std::vector<std::int64_t>& record_correlation) {
  SyncColumns& syncs = trace.syncs;
  for (RowIndex row = 0; row < syncs.size(); ++row) {
    const RowIndex process = process_of_sync(trace, row);
    if (syncs.correlation[row] != kUnknown)
      syncs.call[row] = calls.find(process, syncs.correlation[row], syncs.start_ns[row]);
    if (row < record_correlation.size() && record_correlation[row] != kUnknown)
      syncs.event_record[row] = calls.find(process, record_correlation[row], syncs.start_ns[row]);
  }
}

// An event without a time of its own takes the last call with its id: ids repeat only after 2^32.
void resolve_cuda_events(Trace& trace, const CallIndex& calls) {
  CudaEventColumns& events = trace.cuda_events;
  for (RowIndex row = 0; row < events.size(); ++row) {
    if (events.correlation[row] == kUnknown) continue;
    const Nanoseconds time = events.time_ns[row] == kUnknown
                                 ? std::numeric_limits<Nanoseconds>::max()
                                 : events.time_ns[row];
    events.call[row] =
        calls.find(trace.process_of_stream(events.stream[row]), events.correlation[row], time);
  }
}

// A memory event names no process; its stream does, or there is only one.
void resolve_memory_events(Trace& trace, const CallIndex& calls) {
  MemoryEventColumns& memory = trace.memory_events;
  for (RowIndex row = 0; row < memory.size(); ++row) {
    if (memory.correlation[row] == kUnknown) continue;
    RowIndex process = trace.processes.size() == 1 ? 0 : kNoRow;
    if (memory.stream[row] != kNoRow) process = trace.process_of_stream(memory.stream[row]);
    memory.call[row] = calls.find(process, memory.correlation[row], memory.time_ns[row]);
    if (memory.call[row] != kNoRow && memory.thread[row] == kNoRow)
      memory.thread[row] = trace.api_calls.thread[memory.call[row]];
  }
}

}  // namespace

void resolve_correlations(Trace& trace, const std::vector<std::int64_t>& record_correlation) {
  const CallIndex calls(trace);
  resolve_activities(trace, calls, trace.kernels);
  resolve_activities(trace, calls, trace.copies);
  resolve_activities(trace, calls, trace.fills);
  resolve_activities(trace, calls, trace.graph_launches);
  resolve_syncs(trace, calls, record_correlation);
  resolve_cuda_events(trace, calls);
  resolve_memory_events(trace, calls);
}

}  // namespace gprofml::profile
