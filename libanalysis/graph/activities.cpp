#include "libanalysis/graph/activities.hpp"

#include <algorithm>
#include <numeric>

#include "libanalysis/graph/communication.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

constexpr Nanoseconds kOverrunTolerance = 1000;

struct Entry {
  Nanoseconds start;
  Nanoseconds end;
  std::int64_t stream_id;
  std::uint32_t sequence;
  WorkKind kind;
  RowIndex row;

  bool operator<(const Entry& o) const {
    return std::tie(start, end, stream_id, sequence, kind, row) <
           std::tie(o.start, o.end, o.stream_id, o.sequence, o.kind, o.row);
  }
};

// Counting sort of indices by key: first[k] .. first[k + 1] are those of key k, in index order.
template <class Key>
void group(std::size_t keys, std::size_t items, Key key, std::vector<ActivityIndex>& grouped,
           std::vector<std::uint32_t>& first) {
  first.assign(keys + 1, 0);
  for (std::size_t i = 0; i < items; ++i) {
    if (const RowIndex k = key(i); k != kNoRow) ++first[k + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  grouped.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < items; ++i) {
    if (const RowIndex k = key(i); k != kNoRow) grouped[next[k]++] = static_cast<ActivityIndex>(i);
  }
}

const profile::ActivityColumns& columns_of(const profile::Trace& trace, WorkKind kind) {
  switch (kind) {
    case WorkKind::copy:
      return trace.copies;
    case WorkKind::fill:
      return trace.fills;
    case WorkKind::cuda_graph:
      return trace.graph_launches;
    case WorkKind::kernel:
    case WorkKind::communication:
      break;
  }
  return trace.kernels;
}

std::vector<bool> communication_names(const profile::Trace& trace) {
  std::vector<bool> seen(trace.strings.size(), false);
  std::vector<bool> communication(trace.strings.size(), false);
  for (const profile::StringId name : trace.kernels.name) {
    if (seen[name]) continue;
    seen[name] = true;
    communication[name] = is_communication_kernel(trace.text(name));
  }
  return communication;
}

}  // namespace

TimeClass time_class_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::kernel:
      return TimeClass::kernel;
    case WorkKind::communication:
      return TimeClass::communication;
    case WorkKind::copy:
      return TimeClass::copy;
    case WorkKind::cuda_graph:
      return TimeClass::cuda_graph;
    case WorkKind::fill:
      break;
  }
  return TimeClass::fill;
}

Activities::Activities(const profile::Trace& trace) {
  collect(trace);
  group_by_call_and_stream(trace);
  correct_overruns(trace);
}

void Activities::collect(const profile::Trace& trace) {
  const std::vector<bool> communication = communication_names(trace);
  std::vector<Entry> entries;
  entries.reserve(trace.kernels.size() + trace.copies.size() + trace.fills.size() +
                  trace.graph_launches.size());
  const auto add = [&](const profile::ActivityColumns& columns, WorkKind base) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!profile::has_timestamp(columns.start_ns[i], columns.end_ns[i])) {
        ++no_timestamp;
        continue;
      }
      const bool comm = base == WorkKind::kernel && communication[columns.name[i]];
      entries.push_back({columns.start_ns[i], columns.end_ns[i],
                         trace.streams[columns.stream[i]].id, columns.sequence[i],
                         comm ? WorkKind::communication : base, static_cast<RowIndex>(i)});
    }
  };
  add(trace.kernels, WorkKind::kernel);
  add(trace.copies, WorkKind::copy);
  add(trace.fills, WorkKind::fill);
  add(trace.graph_launches, WorkKind::cuda_graph);
  std::sort(entries.begin(), entries.end());

  const auto reserve = [n = entries.size()](auto&... columns) { (columns.reserve(n), ...); };
  reserve(start_ns, end_ns, kind, row, stream, device, process, call);
  for (const Entry& e : entries) {
    const profile::ActivityColumns& columns = columns_of(trace, e.kind);
    start_ns.push_back(e.start);
    end_ns.push_back(e.end);
    kind.push_back(e.kind);
    row.push_back(e.row);
    stream.push_back(columns.stream[e.row]);
    device.push_back(trace.device_of_stream(columns.stream[e.row]));
    process.push_back(trace.process_of_stream(columns.stream[e.row]));
    call.push_back(columns.launch[e.row]);
  }
}

void Activities::group_by_call_and_stream(const profile::Trace& trace) {
  group(
      trace.api_calls.size(), size(), [&](std::size_t i) { return call[i]; }, by_call_,
      first_of_call_);
  group(
      trace.streams.size(), size(), [&](std::size_t i) { return stream[i]; }, by_stream_,
      first_of_stream_);
  stream_predecessor.assign(size(), kNoActivity);
  for (RowIndex s = 0; s < trace.streams.size(); ++s) {
    const auto work = work_of_stream(s);
    for (std::size_t k = 1; k < work.size(); ++k) stream_predecessor[work[k]] = work[k - 1];
  }
}

void Activities::correct_overruns(const profile::Trace& trace) {
  corrected_end_ns = end_ns;
  for (RowIndex s = 0; s < trace.streams.size(); ++s) {
    const auto work = work_of_stream(s);
    for (std::size_t k = 0; k + 1 < work.size(); ++k) {
      const ActivityIndex i = work[k];
      const ActivityIndex next = work[k + 1];
      if (end_ns[i] - end_ns[next] > kOverrunTolerance && !same_launch(i, next)) {
        corrected_end_ns[i] = start_ns[next];
        ++overruns;
      }
    }
  }
}

const profile::ActivityColumns& Activities::columns(const profile::Trace& trace,
                                                    ActivityIndex i) const {
  return columns_of(trace, kind[i]);
}

std::string_view Activities::name(const profile::Trace& trace, ActivityIndex i) const {
  return trace.text(columns_of(trace, kind[i]).name[row[i]]);
}

}  // namespace gprofml::analysis
