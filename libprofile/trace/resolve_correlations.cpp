// Launch records by correlation id: sort the calls of a process by (id, start), then one binary
// search an activity.
#include <algorithm>
#include <tuple>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {
namespace {

struct Candidate {
  RowIndex process;
  std::int64_t correlation;
  Nanoseconds start_ns;
  Nanoseconds end_ns;
  RowIndex thread;
  RowIndex call;

  // Outer calls before the calls they hold.
  bool operator<(const Candidate& other) const {
    return std::tie(process, correlation, start_ns, other.end_ns, thread, call) <
           std::tie(other.process, other.correlation, other.start_ns, end_ns, other.thread,
                    other.call);
  }
};

class CallIndex {
 public:
  explicit CallIndex(const Trace& trace) {
    const ApiCallColumns& calls = trace.api_calls;
    for (RowIndex row = 0; row < calls.size(); ++row) {
      if (calls.correlation[row] == kUnknown) continue;
      candidates_.push_back({trace.threads[calls.thread[row]].process, calls.correlation[row],
                             calls.start_ns[row], calls.end_ns[row], calls.thread[row], row});
    }
    if (!std::is_sorted(candidates_.begin(), candidates_.end()))
      std::sort(candidates_.begin(), candidates_.end());
    drop_nested();
  }

  /// The call with this id that started last at or before `time_ns`, else the first with the id.
  RowIndex find(RowIndex process, std::int64_t correlation, Nanoseconds time_ns) const {
    const auto same_id = [&](const Candidate& c) {
      return c.process == process && c.correlation == correlation;
    };
    const auto after =
        std::partition_point(candidates_.begin(), candidates_.end(), [&](const Candidate& c) {
          return std::tie(c.process, c.correlation, c.start_ns) <=
                 std::tie(process, correlation, time_ns);
        });
    if (after != candidates_.begin() && same_id(*(after - 1))) return (after - 1)->call;
    if (after != candidates_.end() && same_id(*after)) return after->call;
    return kNoRow;
  }

 private:
  // Of calls with one id that lie inside each other on one thread (a runtime call and the driver
  // call it makes) keeps the outermost. One pass: in sorted order an enclosing call comes first,
  // and among those kept so far the one that reaches furthest is remembered a thread.
  void drop_nested() {
    std::vector<Candidate> kept;
    kept.reserve(candidates_.size());
    for (std::size_t first = 0; first < candidates_.size();) {
      std::size_t last = first + 1;
      while (last < candidates_.size() && candidates_[last].process == candidates_[first].process &&
             candidates_[last].correlation == candidates_[first].correlation)
        ++last;
      if (last == first + 1)
        kept.push_back(candidates_[first]);
      else
        keep_outermost(first, last, kept);
      first = last;
    }
    candidates_ = std::move(kept);
  }

  void keep_outermost(std::size_t first, std::size_t last, std::vector<Candidate>& kept) const {
    std::vector<Candidate> group(candidates_.begin() + static_cast<std::ptrdiff_t>(first),
                                 candidates_.begin() + static_cast<std::ptrdiff_t>(last));
    std::stable_sort(group.begin(), group.end(),
                     [](const Candidate& a, const Candidate& b) { return a.thread < b.thread; });
    std::vector<Candidate> outer;
    for (const Candidate& call : group) {
      const bool nested = !outer.empty() && outer.back().thread == call.thread &&
                          call.end_ns <= outer.back().end_ns;
      if (!nested) outer.push_back(call);
    }
    std::sort(outer.begin(), outer.end());
    kept.insert(kept.end(), outer.begin(), outer.end());
  }

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

}  // namespace

void resolve_correlations(Trace& trace, const std::vector<std::int64_t>& record_correlation) {
  const CallIndex calls(trace);
  resolve_activities(trace, calls, trace.kernels);
  resolve_activities(trace, calls, trace.copies);
  resolve_activities(trace, calls, trace.fills);
  resolve_syncs(trace, calls, record_correlation);
}

}  // namespace gprofml::profile
