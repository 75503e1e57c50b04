#include "libanalysis/graph/blocking_calls.hpp"

#include <algorithm>
#include <limits>

namespace gprofml::analysis {

using profile::CopyKind;
using profile::kNoRow;
using profile::MemoryKind;
using profile::Nanoseconds;
using profile::RowIndex;
using profile::SyncKind;

namespace {

constexpr std::size_t kMostStreams = 512;

}  // namespace

BlockingCalls::BlockingCalls(const profile::Trace& trace, const Activities& activities,
                             const CallTraitsTable& traits, const EndOrder& stream_ends,
                             const EndOrder& process_ends)
    : trace_(trace),
      work_(activities),
      traits_(traits),
      sync_of_call_(trace.api_calls.size(), kNoRow),
      stream_ends_(stream_ends),
      process_ends_(process_ends),
      process_streams_(trace.processes.size()) {
  const profile::SyncColumns& syncs = trace.syncs;
  for (RowIndex s = 0; s < syncs.size(); ++s) {
    if (syncs.call[s] != kNoRow && syncs.kind[s] != SyncKind::stream_wait_event) {
      sync_of_call_[syncs.call[s]] = s;
    }
  }
  for (RowIndex s = 0; s < trace.streams.size(); ++s) {
    process_streams_[trace.process_of_stream(s)].push_back(s);
  }
}

ActivityIndex BlockingCalls::own_copy(RowIndex call) const {
  const CallTraits& traits = traits_.of(call);
  if (!traits.copies) return kNoActivity;
  const Nanoseconds call_end = trace_.api_calls.end_ns[call];
  ActivityIndex held = kNoActivity;
  for (const ActivityIndex i : work_.work_of_call(call)) {
    if (work_.kind[i] != WorkKind::copy) continue;
    const RowIndex row = work_.row[i];
    const bool pinned = trace_.copies.source_memory[row] == MemoryKind::pinned ||
                        trace_.copies.target_memory[row] == MemoryKind::pinned;
    if (traits.async && (pinned || trace_.copies.kind[row] == CopyKind::device_to_device)) continue;
    const Nanoseconds start = work_.start_ns[i];
    const Nanoseconds end = work_.corrected_end_ns[i];
    if (start >= call_end || std::min(end, call_end) - start < end - std::min(end, call_end))
      continue;
    if (held == kNoActivity || end >= work_.corrected_end_ns[held]) held = i;
  }
  return held;
}

bool BlockingCalls::blocks(RowIndex call) const {
  return traits_.of(call).blocking != Blocking::no || own_copy(call) != kNoActivity;
}

BlockingCalls::Scope BlockingCalls::scope_of(RowIndex call) const {
  Scope scope;
  scope.launched_before_ns = trace_.api_calls.start_ns[call];
  const RowIndex sync = sync_of_call_[call];
  const profile::SyncColumns& syncs = trace_.syncs;
  if (sync != kNoRow && syncs.kind[sync] == SyncKind::event && syncs.event_stream[sync] != kNoRow) {
    scope.stream = syncs.event_stream[sync];
    if (syncs.event_record[sync] != kNoRow) {
      scope.launched_before_ns = trace_.api_calls.start_ns[syncs.event_record[sync]];
    }
    return scope;
  }
  if (sync != kNoRow && syncs.kind[sync] == SyncKind::stream && syncs.stream[sync] != kNoRow) {
    scope.stream = syncs.stream[sync];
    return scope;
  }
  const Blocking blocking = traits_.of(call).blocking;
  if (blocking == Blocking::device || blocking == Blocking::free) {
    if (sync != kNoRow) scope.device = syncs.device[sync];
  } else {
    scope.inferred = true;
  }
  return scope;
}

bool BlockingCalls::in_scope(const Scope& scope, ActivityIndex i) const {
  if (scope.device != kNoRow && work_.device[i] != scope.device) return false;
  return !work_.linked(i) || trace_.api_calls.start_ns[work_.call[i]] < scope.launched_before_ns;
}

std::optional<Awaited> BlockingCalls::awaited(RowIndex call, Nanoseconds t_ns) const {
  if (traits_.of(call).blocking == Blocking::no) {
    const ActivityIndex copy = own_copy(call);
    if (copy == kNoActivity) return std::nullopt;
    return Awaited{copy, work_.corrected_end_ns[copy], false};
  }
  const Scope scope = scope_of(call);
  const auto waited_for = [&](ActivityIndex i) { return in_scope(scope, i); };
  const Nanoseconds start_ns = trace_.api_calls.start_ns[call];
  const RowIndex process = trace_.threads[trace_.api_calls.thread[call]].process;
  const ActivityIndex last = scope.stream != kNoRow
                                 ? stream_ends_.find_last(scope.stream, start_ns, t_ns, waited_for)
                                 : process_ends_.find_last(process, start_ns, t_ns, waited_for);
  if (last == kNoActivity) return std::nullopt;
  return Awaited{last, work_.corrected_end_ns[last], scope.inferred};
}

std::vector<Awaited> BlockingCalls::last_of_each_stream(RowIndex call, Nanoseconds t_ns) const {
  const RowIndex process = trace_.threads[trace_.api_calls.thread[call]].process;
  const std::vector<RowIndex>& all = process_streams_[process];
  std::vector<Awaited> last;
  if (traits_.of(call).blocking == Blocking::no || all.size() > kMostStreams) {
    if (const std::optional<Awaited> one = awaited(call, t_ns)) last.push_back(*one);
    return last;
  }
  const Scope scope = scope_of(call);
  for (const RowIndex stream : all) {
    if (scope.stream != kNoRow && scope.stream != stream) continue;
    const ActivityIndex i =
        stream_ends_.find_last(stream, std::numeric_limits<Nanoseconds>::min(), t_ns,
                               [&](ActivityIndex work) { return in_scope(scope, work); });
    if (i != kNoActivity) last.push_back({i, work_.corrected_end_ns[i], scope.inferred});
  }
  return last;
}

}  // namespace gprofml::analysis
