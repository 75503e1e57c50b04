#include "libanalysis/graph/blocking_calls.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gprofml::analysis {

using profile::CopyKind;
using profile::kNoRow;
using profile::MemoryKind;
using profile::Nanoseconds;
using profile::RowIndex;
using profile::SyncKind;

BlockingCalls::BlockingCalls(const profile::Trace& trace, const Activities& activities,
                             const CallTraitsTable& traits)
    : trace_(trace),
      work_(activities),
      traits_(traits),
      sync_of_call_(trace.api_calls.size(), kNoRow),
      by_end_(trace.streams.size()),
      process_streams_(trace.processes.size()) {
  const profile::SyncColumns& syncs = trace.syncs;
  for (RowIndex s = 0; s < syncs.size(); ++s) {
    if (syncs.call[s] != kNoRow && syncs.kind[s] != SyncKind::stream_wait_event) {
      sync_of_call_[syncs.call[s]] = s;
    }
  }
  for (RowIndex s = 0; s < trace.streams.size(); ++s) {
    const auto work = work_.work_of_stream(s);
    by_end_[s].assign(work.begin(), work.end());
    std::sort(by_end_[s].begin(), by_end_[s].end(), [&](ActivityIndex a, ActivityIndex b) {
      return std::tie(work_.corrected_end_ns[a], a) < std::tie(work_.corrected_end_ns[b], b);
    });
    process_streams_[trace.process_of_stream(s)].push_back(s);
  }
}

std::optional<ActivityIndex> BlockingCalls::own_copy(RowIndex call) const {
  const CallTraits& traits = traits_.of(call);
  if (!traits.copies) return std::nullopt;
  const Nanoseconds call_end = trace_.api_calls.end_ns[call];
  std::optional<ActivityIndex> held;
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
    if (!held || end >= work_.corrected_end_ns[*held]) held = i;
  }
  return held;
}

bool BlockingCalls::blocks(RowIndex call) const {
  return traits_.of(call).blocking != Blocking::no || own_copy(call).has_value();
}

BlockingCalls::Scope BlockingCalls::scope_of(RowIndex call) const {
  Scope scope{{}, trace_.api_calls.start_ns[call], false};
  const RowIndex process = trace_.threads[trace_.api_calls.thread[call]].process;
  const std::vector<RowIndex>& all = process_streams_[process];
  const RowIndex sync = sync_of_call_[call];
  const profile::SyncColumns& syncs = trace_.syncs;
  if (sync != kNoRow && syncs.kind[sync] == SyncKind::event && syncs.event_stream[sync] != kNoRow) {
    scope.streams = {syncs.event_stream[sync]};
    if (syncs.event_record[sync] != kNoRow) {
      scope.launched_before_ns = trace_.api_calls.start_ns[syncs.event_record[sync]];
    }
    return scope;
  }
  if (sync != kNoRow && syncs.kind[sync] == SyncKind::stream && syncs.stream[sync] != kNoRow) {
    scope.streams = {syncs.stream[sync]};
    return scope;
  }
  const Blocking blocking = traits_.of(call).blocking;
  if (blocking == Blocking::device || blocking == Blocking::free) {
    const RowIndex device = sync == kNoRow ? kNoRow : syncs.device[sync];
    for (const RowIndex s : all) {
      if (device == kNoRow || trace_.device_of_stream(s) == device) scope.streams.push_back(s);
    }
    return scope;
  }
  scope.streams = all;
  scope.inferred = true;
  return scope;
}

ActivityIndex BlockingCalls::last_end_by(RowIndex stream, Nanoseconds t_ns,
                                         ActivityIndex before) const {
  const std::vector<ActivityIndex>& by_end = by_end_[stream];
  auto it = std::upper_bound(
      by_end.begin(), by_end.end(), t_ns,
      [&](Nanoseconds t, ActivityIndex i) { return t < work_.corrected_end_ns[i]; });
  while (it != by_end.begin()) {
    if (*--it < before) return *it;
  }
  return kNoActivity;
}

std::optional<Awaited> BlockingCalls::last_end_on(RowIndex stream, const Scope& scope,
                                                  Nanoseconds after_ns,
                                                  Nanoseconds until_ns) const {
  const std::vector<ActivityIndex>& by_end = by_end_[stream];
  auto it = std::upper_bound(
      by_end.begin(), by_end.end(), until_ns,
      [&](Nanoseconds t, ActivityIndex i) { return t < work_.corrected_end_ns[i]; });
  while (it != by_end.begin()) {
    const ActivityIndex i = *--it;
    const Nanoseconds end = work_.corrected_end_ns[i];
    if (end <= after_ns) break;
    if (!work_.linked(i) || trace_.api_calls.start_ns[work_.call[i]] < scope.launched_before_ns) {
      return Awaited{i, end, scope.inferred};
    }
  }
  return std::nullopt;
}

std::optional<Awaited> BlockingCalls::awaited(RowIndex call, Nanoseconds t_ns) const {
  if (traits_.of(call).blocking == Blocking::no) {
    const std::optional<ActivityIndex> copy = own_copy(call);
    if (!copy) return std::nullopt;
    return Awaited{*copy, work_.corrected_end_ns[*copy], false};
  }
  const Scope scope = scope_of(call);
  std::optional<Awaited> last;
  for (const RowIndex stream : scope.streams) {
    const std::optional<Awaited> here =
        last_end_on(stream, scope, trace_.api_calls.start_ns[call], t_ns);
    if (here && (!last ||
                 std::tie(here->end_ns, here->activity) > std::tie(last->end_ns, last->activity))) {
      last = here;
    }
  }
  return last;
}

std::vector<Awaited> BlockingCalls::last_of_each_stream(RowIndex call, Nanoseconds t_ns) const {
  std::vector<Awaited> last;
  if (traits_.of(call).blocking == Blocking::no) {
    if (const std::optional<Awaited> copy = awaited(call, t_ns)) last.push_back(*copy);
    return last;
  }
  const Scope scope = scope_of(call);
  for (const RowIndex stream : scope.streams) {
    const std::optional<Awaited> here =
        last_end_on(stream, scope, std::numeric_limits<Nanoseconds>::min(), t_ns);
    if (here) last.push_back(*here);
  }
  return last;
}

}  // namespace gprofml::analysis
