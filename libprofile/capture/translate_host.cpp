// What host threads did: calls, synchronisations, event records, and the recorder's overhead.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "libprofile/capture/translate_cupti.hpp"
#include "libprofile/capture/translate_process.hpp"

namespace gprofml::profile {
namespace {

std::int64_t id_or_unknown(std::uint32_t id) {
  return id == spool::kNoId ? kUnknown : std::int64_t{id};
}

std::int64_t correlation_or_unknown(std::uint32_t correlation) {
  return correlation == 0 ? kUnknown : std::int64_t{correlation};
}

/// CUPTI writes "none" in 32 or in 64 bits.
bool names_event_sync(std::uint64_t id) {
  return id != ~std::uint64_t{0} && id != spool::kNoId;
}

std::uint64_t context_event(std::uint32_t context, std::uint32_t event) {
  return static_cast<std::uint64_t>(context) << 32 | event;
}

}  // namespace

RowIndex ProcessTranslator::thread_row(std::uint32_t tid) {
  const RowIndex known = threads_.find(tid);
  if (known != kNoRow) return known;
  const auto row = static_cast<RowIndex>(trace_.threads.size());
  trace_.threads.push_back({0, pid_, tid, 0});
  threads_.set(tid, row);
  return row;
}

void ProcessTranslator::take(const spool::ApiCall& record) {
  if (record.end_ns < record.start_ns) {
    ++facts_.bad_times;
    return;
  }
  saw(record.end_ns);
  ApiCallColumns& calls = trace_.api_calls;
  calls.start_ns.push_back(record.start_ns);
  calls.end_ns.push_back(record.end_ns);
  calls.name.push_back(call_name_of(record.name));
  calls.thread.push_back(thread_row(record.tid));
  calls.correlation.push_back(correlation_or_unknown(record.correlation));
  calls.kind.push_back(record.domain == 0 ? ApiKind::runtime : ApiKind::driver);
  calls.result.push_back(record.return_value);
}

// --- synchronisations and events -------------------------------------------------------------

void ProcessTranslator::take(const spool::Sync& record) {
  if (record.end_ns < record.start_ns) {
    ++facts_.bad_times;
    return;
  }
  saw(record.end_ns);
  SyncColumns& syncs = trace_.syncs;
  syncs.start_ns.push_back(record.start_ns);
  syncs.end_ns.push_back(record.end_ns);
  syncs.kind.push_back(sync_kind_of(record.type));
  syncs.device.push_back(kNoRow);
  syncs.stream.push_back(kNoRow);
  syncs.event_stream.push_back(kNoRow);
  syncs.event_record.push_back(kNoRow);
  syncs.call.push_back(kNoRow);
  syncs.correlation.push_back(correlation_or_unknown(record.correlation));
  syncs.event_id.push_back(id_or_unknown(record.event));
  sync_places_.push_back({record.context, record.stream, record.event_sync});
}

void ProcessTranslator::take(const spool::CudaEvent& record) {
  saw(record.device_time_ns);
  cuda_events_.push_back(record);
}

void ProcessTranslator::place_syncs() {
  SyncColumns& syncs = trace_.syncs;
  for (std::size_t row = 0; row < syncs.size(); ++row) {
    const SyncPlace& place = sync_places_[row];
    const auto context = contexts_.find(place.context);
    if (context != contexts_.end()) {
      syncs.device[row] = trace_.contexts[context->second].device;
    }
    syncs.stream[row] = stream_known_as(place.context, place.stream);
    if (syncs.stream[row] != kNoRow) {
      syncs.device[row] = trace_.device_of_stream(syncs.stream[row]);
    }
  }
}

void ProcessTranslator::place_cuda_events() {
  CudaEventColumns& events = trace_.cuda_events;
  for (const spool::CudaEvent& record : cuda_events_) {
    const RowIndex stream = stream_known_as(record.context, record.stream);
    if (stream == kNoRow) {
      ++facts_.unplaced_records;
      continue;
    }
    events.event_id.push_back(id_or_unknown(record.event));
    events.stream.push_back(stream);
    events.call.push_back(kNoRow);
    events.correlation.push_back(correlation_or_unknown(record.correlation));
    events.time_ns.push_back(record.device_time_ns == 0 ? kUnknown : record.device_time_ns);
    event_sync_of_event_.push_back(record.event_sync);
    context_event_of_event_.push_back(context_event(record.context, record.event));
  }
}

/// Each wait for an event finds the record of that event: by the id that joins the two where CUPTI
/// gives one, else (before CUDA 12.8) the last record of the event called before the wait.
void ProcessTranslator::join_events() {
  SyncColumns& syncs = trace_.syncs;
  const CudaEventColumns& events = trace_.cuda_events;
  const auto called_ns = [&](RowIndex event) {
    return trace_.api_calls.start_ns[events.call[event]];
  };
  std::unordered_map<std::uint64_t, RowIndex> by_sync;
  std::unordered_map<std::uint64_t, std::vector<RowIndex>> by_event;  // in order of the calls
  for (RowIndex event = 0; event < events.size(); ++event) {
    if (names_event_sync(event_sync_of_event_[event])) by_sync[event_sync_of_event_[event]] = event;
    if (events.call[event] != kNoRow) by_event[context_event_of_event_[event]].push_back(event);
  }
  for (auto& [key, records] : by_event) {
    std::stable_sort(records.begin(), records.end(),
                     [&](RowIndex a, RowIndex b) { return called_ns(a) < called_ns(b); });
  }
  for (RowIndex row = 0; row < syncs.size(); ++row) {
    if (syncs.event_id[row] == kUnknown && !names_event_sync(sync_places_[row].event_sync))
      continue;
    RowIndex event = kNoRow;
    if (names_event_sync(sync_places_[row].event_sync)) {
      const auto found = by_sync.find(sync_places_[row].event_sync);
      if (found != by_sync.end()) event = found->second;
    } else if (syncs.call[row] != kNoRow) {
      const auto found = by_event.find(context_event(
          sync_places_[row].context, static_cast<std::uint32_t>(syncs.event_id[row])));
      if (found != by_event.end()) {
        const Nanoseconds wait_ns = trace_.api_calls.start_ns[syncs.call[row]];
        const auto after =
            std::partition_point(found->second.begin(), found->second.end(),
                                 [&](RowIndex e) { return called_ns(e) <= wait_ns; });
        if (after != found->second.begin()) event = *(after - 1);
      }
    }
    if (event == kNoRow) continue;
    syncs.event_stream[row] = events.stream[event];
    syncs.event_record[row] = events.call[event];
  }
}

// --- the rest --------------------------------------------------------------------------------

void ProcessTranslator::take(const spool::Overhead& record) {
  if (record.end_ns < record.start_ns) {
    ++facts_.bad_times;
    return;
  }
  saw(record.end_ns);
  auto name = overhead_names_.find(record.kind);
  if (name == overhead_names_.end()) {
    name = overhead_names_.emplace(record.kind, trace_.intern(overhead_name(record.kind))).first;
  }
  OverheadColumns& overheads = trace_.overheads;
  overheads.start_ns.push_back(record.start_ns);
  overheads.end_ns.push_back(record.end_ns);
  overheads.kind.push_back(name->second);
  overheads.process.push_back(0);
  overheads.thread.push_back(record.tid == 0 ? kNoRow : thread_row(record.tid));
}

void ProcessTranslator::take(const spool::GraphNode& record) {
  saw(record.time_ns);
  graphs_.made(record, thread_row(record.tid));
}

void ProcessTranslator::take(const spool::GraphEdge& record) {
  graphs_.edge(record);
}

}  // namespace gprofml::profile
