// The second half of KinetoBuilder: what needs the whole file.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>

#include "libprofile/import/json_text.hpp"
#include "libprofile/import/kineto_builder.hpp"

namespace gprofml::profile {
namespace {

/// GPU work at 0 while all other starts later than this has lost its stamp.
constexpr Nanoseconds kLostStartGap = Nanoseconds{1'000'000'000} * 1000;

template <typename Visit>
void visit_activities(Trace& trace, Visit&& visit) {
  visit(trace.kernels);
  visit(trace.copies);
  visit(trace.fills);
}

void shift(std::vector<Nanoseconds>& start, std::vector<Nanoseconds>& end, Nanoseconds base) {
  for (std::size_t row = 0; row < start.size(); ++row) {
    if (!has_timestamp(start[row], end[row])) continue;
    start[row] += base;
    end[row] += base;
  }
}

}  // namespace

void KinetoBuilder::note(std::string_view code, std::int64_t count, std::string_view detail) {
  trace_.quality.push_back({0, trace_.intern(code), count, trace_.intern(detail)});
}

/// Words used as pid or tid are numbered in their alphabetical order.
void KinetoBuilder::number_named_ids() {
  std::map<std::int64_t, std::int64_t> final_id;
  std::map<std::int64_t, const std::string*> word;
  for (const auto& [text, id] : named_ids_) {
    final_id.emplace(id, kFirstNamedId - static_cast<std::int64_t>(final_id.size()));
    word.emplace(id, &text);
  }
  const auto renumber = [&](std::int64_t& id) {
    if (const auto found = final_id.find(id); found != final_id.end()) id = found->second;
  };
  for (Thread& thread : trace_.threads) {
    const auto name = thread_names_.find({thread.pid, thread.tid});
    if (name != thread_names_.end()) {
      thread.name = trace_.intern(name->second);
    } else if (const auto own = word.find(thread.tid); own != word.end()) {
      thread.name = trace_.intern(*own->second);
    }
    renumber(thread.pid);
    renumber(thread.tid);
  }
}

void KinetoBuilder::drop_lost_starts() {
  Nanoseconds earliest = std::numeric_limits<Nanoseconds>::max();
  std::int64_t lost = 0;
  visit_activities(trace_, [&](const auto& activities) {
    for (const Nanoseconds start : activities.start_ns)
      if (start != 0) earliest = std::min(earliest, start);
  });
  if (earliest == std::numeric_limits<Nanoseconds>::max() || earliest < kLostStartGap) return;
  visit_activities(trace_, [&](auto& activities) {
    for (std::size_t row = 0; row < activities.size(); ++row) {
      if (activities.start_ns[row] != 0 || activities.end_ns[row] == 0) continue;
      activities.end_ns[row] = 0;
      ++lost;
    }
  });
  if (lost > 0) note("lost_start", lost, "GPU work that has a duration but starts at 0");
}

void KinetoBuilder::add_base(Nanoseconds base) {
  visit_activities(trace_,
                   [&](auto& activities) { shift(activities.start_ns, activities.end_ns, base); });
  shift(trace_.api_calls.start_ns, trace_.api_calls.end_ns, base);
  shift(trace_.ranges.start_ns, trace_.ranges.end_ns, base);
  shift(trace_.syncs.start_ns, trace_.syncs.end_ns, base);
  for (Nanoseconds& time : trace_.memory_events.time_ns)
    if (time != 0) time += base;
}

void KinetoBuilder::place_syncs() {
  // A stream without a context is any stream of that number on the device, the first if several.
  const auto find_stream = [&](const SyncPlace& place, std::int64_t stream) -> RowIndex {
    if (stream == kUnknown) return kNoRow;
    const StreamKey key{place.device, place.context, stream};
    if (const auto exact = streams_.find(key); exact != streams_.end()) return exact->second;
    if (place.context == kUnknown)
      for (const auto& [known, row] : streams_)
        if (known.device == key.device && known.stream == stream) return row;
    return stream_row(key);
  };
  // Streams with a context come first, so that what is found does not depend on the order.
  for (const bool with_context : {true, false}) {
    for (std::size_t row = 0; row < sync_places_.size(); ++row) {
      const SyncPlace& place = sync_places_[row];
      if (place.device == kUnknown || with_context != (place.context != kUnknown)) continue;
      trace_.syncs.device[row] = device_row(place.device);
      trace_.syncs.stream[row] = find_stream(place, place.stream);
      trace_.syncs.event_stream[row] = find_stream(place, place.event_stream);
    }
  }
}

void KinetoBuilder::place_memory_events() {
  // ROCm numbers a device by its node in GPU work and from 0 in memory events: with one device on
  // each side they are the same one.
  std::vector<std::int64_t> ordinals = memory_device_;
  std::sort(ordinals.begin(), ordinals.end());
  ordinals.erase(std::unique(ordinals.begin(), ordinals.end()), ordinals.end());
  ordinals.erase(std::remove(ordinals.begin(), ordinals.end(), kUnknown), ordinals.end());
  const bool only_one = ordinals.size() == 1 && trace_.devices.size() == 1;
  for (std::size_t row = 0; row < memory_device_.size(); ++row) {
    if (memory_device_[row] == kUnknown) continue;
    trace_.memory_events.device[row] = only_one ? 0 : device_row(memory_device_[row]);
  }
}

/// "External id" of GPU work names an op in files of 2020, 2021 and since April 2024; in between it
/// repeats the correlation id.
void KinetoBuilder::link_ops() {
  std::int64_t given = 0, equal = 0;
  const auto visit = [&](auto&& per_row) {
    const auto table = [&](ActivityColumns& activities, const std::vector<std::int64_t>& ids) {
      for (std::size_t row = 0; row < ids.size(); ++row)
        if (ids[row] != kUnknown) per_row(activities, row, ids[row]);
    };
    table(trace_.kernels, kernel_external_);
    table(trace_.copies, copy_external_);
    table(trace_.fills, fill_external_);
  };
  visit([&](const ActivityColumns& activities, std::size_t row, std::int64_t id) {
    ++given;
    if (activities.correlation[row] == id) ++equal;
  });
  if (given == 0 || 2 * equal > given) return;
  const RangeColumns& ranges = trace_.ranges;
  std::unordered_map<std::int64_t, RowIndex> ops;
  for (RowIndex row = 0; row < ranges.size(); ++row) {
    if (ranges.kind[row] != RangeKind::op || ranges.external_id[row] == kUnknown) continue;
    const auto [found, is_new] = ops.emplace(ranges.external_id[row], row);
    // Of several ops with one id the first, whatever their order in the file.
    const auto key = [&](RowIndex r) {
      return std::tuple(ranges.start_ns[r], ~ranges.end_ns[r], trace_.text(ranges.name[r]));
    };
    if (!is_new && key(row) < key(found->second)) found->second = row;
  }
  visit([&](ActivityColumns& activities, std::size_t row, std::int64_t id) {
    if (const auto found = ops.find(id); found != ops.end()) activities.op[row] = found->second;
  });
}

void KinetoBuilder::describe_process(const KinetoHeader& header) {
  Process& process = trace_.processes[0];
  process.rank = header.rank;
  process.host = trace_.intern(header.host);
  std::vector<std::uint64_t> events_of_thread(trace_.threads.size(), 0);
  for (const RowIndex thread : trace_.api_calls.thread) ++events_of_thread[thread];
  for (std::size_t row = 0; row < trace_.ranges.size(); ++row)
    if (trace_.ranges.kind[row] == RangeKind::op) ++events_of_thread[trace_.ranges.thread[row]];
  std::map<std::int64_t, std::uint64_t> events_of_pid;
  for (std::size_t row = 0; row < trace_.threads.size(); ++row)
    if (const std::int64_t pid = trace_.threads[row].pid; pid != kUnknown && pid > kFirstNamedId)
      events_of_pid[pid] += events_of_thread[row];
  std::uint64_t most = 0;
  for (const auto& [pid, events] : events_of_pid) {
    if (events <= most) continue;
    most = events;
    process.pid = pid;
  }
  if (const auto name = process_names_.find(process.pid); name != process_names_.end())
    process.command = trace_.intern(name->second);
}

/// ROCm's GPU work names a device by its node, its properties by the number from 0: there they are
/// used only when all listed GPUs are alike.
void KinetoBuilder::describe_devices(const KinetoHeader& header) {
  const auto& listed = header.devices;
  const bool alike = !listed.empty() && std::all_of(listed.begin(), listed.end(),
                                                    [&](const KinetoDeviceProperties& properties) {
                                                      return properties.same_model(listed.front());
                                                    });
  const bool by_node =
      std::any_of(trace_.api_calls.name.begin(), trace_.api_calls.name.end(),
                  [&](StringId name) { return trace_.text(name).substr(0, 3) == "hip"; });
  for (Device& device : trace_.devices) {
    device.host = trace_.processes[0].host;
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const auto& properties) {
      return by_node ? alike : properties.id == device.ordinal && properties.id != kUnknown;
    });
    if (found == listed.end()) continue;
    device.name = trace_.intern(found->name);
    device.memory_bytes = found->memory_bytes;
    device.multiprocessors = found->multiprocessors;
    device.compute_major = found->compute_major;
    device.compute_minor = found->compute_minor;
  }
}

void KinetoBuilder::report_quality(const KinetoHeader& header, std::string_view cut_off) {
  for (const auto& [category, events] : ignored_)
    note("ignored_category", events, unescaped(category));
  if (bad_ != 0)
    note("bad_event", static_cast<std::int64_t>(bad_),
         fmt::format("the first at byte {}: {}", first_bad_byte_, first_bad_reason_));
  if (repaired_ != 0)
    note("repaired_text", static_cast<std::int64_t>(repaired_),
         "control characters or bytes that are not UTF-8 were replaced");
  if (header.base_unusable) note("bad_base_time", 1, "baseTimeNanoseconds is no usable time");
  if (header.repeated_events != 0)
    note("repeated_events", header.repeated_events, "further traceEvents arrays were passed over");
  if (!cut_off.empty()) note("truncated_file", 1, cut_off);
}

Trace KinetoBuilder::finish(const KinetoHeader& header, std::string_view cut_off) {
  describe_process(header);
  number_named_ids();
  drop_lost_starts();
  add_base(header.base_ns);
  place_syncs();
  place_memory_events();
  link_ops();
  describe_devices(header);
  report_quality(header, cut_off);
  for (const auto& [key, value] : header.settings) trace_.meta.emplace(key, value);
  resolve_correlations(trace_, record_correlation_);
  canonicalise(trace_);
  return std::move(trace_);
}

}  // namespace gprofml::profile
