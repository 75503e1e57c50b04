#include "libanalysis/graph/host_threads.hpp"

#include <algorithm>
#include <tuple>

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

void note_record(HostThread& thread, Nanoseconds start_ns) {
  if (!thread.first_record_ns || start_ns < *thread.first_record_ns) {
    thread.first_record_ns = start_ns;
  }
}

// Keeps, of calls sorted by (start, longest first), those that do not start inside another.
void keep_outermost(const profile::ApiCallColumns& calls, std::vector<RowIndex>& rows) {
  std::sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
    return std::tuple(calls.start_ns[a], -calls.end_ns[a], a) <
           std::tuple(calls.start_ns[b], -calls.end_ns[b], b);
  });
  std::size_t kept = 0;
  for (const RowIndex call : rows) {
    if (kept > 0 && calls.start_ns[call] < calls.end_ns[rows[kept - 1]]) continue;
    // a call of no length at the start of a longer one sorts behind it and is inside it
    if (kept > 0 && calls.start_ns[call] == calls.start_ns[rows[kept - 1]]) continue;
    rows[kept++] = call;
  }
  rows.resize(kept);
}

void merge_touching(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
  });
  std::size_t kept = 0;
  for (const Stretch& s : stretches) {
    if (kept > 0 && s.start_ns <= stretches[kept - 1].end_ns) {
      stretches[kept - 1].end_ns = std::max(stretches[kept - 1].end_ns, s.end_ns);
    } else {
      stretches[kept++] = s;
    }
  }
  stretches.resize(kept);
}

}  // namespace

bool is_step_mark(std::string_view name) {
  constexpr std::string_view kMark = "ProfilerStep#";
  return name.substr(0, kMark.size()) == kMark;
}

bool HostThreads::covers(RowIndex range) const {
  return trace_.ranges.kind[range] == profile::RangeKind::op;
}

HostThreads::HostThreads(const profile::Trace& trace)
    : trace_(trace), threads_(trace.threads.size()), cover_ends_(trace.processes.size()) {
  const profile::ApiCallColumns& calls = trace.api_calls;
  for (RowIndex i = 0; i < calls.size(); ++i) {
    HostThread& thread = threads_[calls.thread[i]];
    thread.outermost_calls.push_back(i);
    thread.covered.push_back({calls.start_ns[i], calls.end_ns[i]});
    cover_ends_[trace.threads[calls.thread[i]].process].push_back(
        {calls.end_ns[i], calls.thread[i]});
    note_record(thread, calls.start_ns[i]);
  }
  const profile::RangeColumns& ranges = trace.ranges;
  for (RowIndex i = 0; i < ranges.size(); ++i) {
    HostThread& thread = threads_[ranges.thread[i]];
    note_record(thread, ranges.start_ns[i]);
    if (!covers(i)) continue;
    thread.covered.push_back({ranges.start_ns[i], ranges.end_ns[i]});
    cover_ends_[trace.threads[ranges.thread[i]].process].push_back(
        {ranges.end_ns[i], ranges.thread[i]});
  }
  for (HostThread& thread : threads_) {
    keep_outermost(calls, thread.outermost_calls);
    merge_touching(thread.covered);
  }
  const auto identity = [&](RowIndex t) {
    return std::tuple(trace.threads[t].pid, trace.threads[t].tid, t);
  };
  for (std::vector<CoverEnd>& ends : cover_ends_) {
    std::sort(ends.begin(), ends.end(), [&](const CoverEnd& a, const CoverEnd& b) {
      if (a.end_ns != b.end_ns) return a.end_ns < b.end_ns;
      return identity(b.thread) < identity(a.thread);
    });
  }
}

RowIndex HostThreads::last_call_before(RowIndex thread, Nanoseconds t_ns) const {
  const std::vector<RowIndex>& rows = threads_[thread].outermost_calls;
  const auto after = std::lower_bound(
      rows.begin(), rows.end(), t_ns,
      [&](RowIndex row, Nanoseconds t) { return trace_.api_calls.start_ns[row] < t; });
  return after == rows.begin() ? kNoRow : *(after - 1);
}

const Stretch* HostThreads::last_stretch_before(RowIndex thread, Nanoseconds t_ns) const {
  const std::vector<Stretch>& stretches = threads_[thread].covered;
  const auto after =
      std::lower_bound(stretches.begin(), stretches.end(), t_ns,
                       [](const Stretch& s, Nanoseconds t) { return s.start_ns < t; });
  return after == stretches.begin() ? nullptr : &*(after - 1);
}

}  // namespace gprofml::analysis
