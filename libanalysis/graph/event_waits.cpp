#include "libanalysis/graph/event_waits.hpp"

#include <algorithm>
#include <tuple>

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

// The linked work of one stream in launch order.
struct Launched {
  Nanoseconds launch_ns;
  ActivityIndex activity;
  bool operator<(const Launched& o) const {
    return std::tie(launch_ns, activity) < std::tie(o.launch_ns, o.activity);
  }
};

std::vector<Launched> launch_order(const profile::Trace& trace, const Activities& activities,
                                   RowIndex stream) {
  std::vector<Launched> order;
  for (const ActivityIndex i : activities.work_of_stream(stream)) {
    if (activities.linked(i)) order.push_back({trace.api_calls.start_ns[activities.call[i]], i});
  }
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

EventWaits::EventWaits(const profile::Trace& trace, const Activities& activities)
    : waits_(activities.size(), false) {
  const profile::SyncColumns& syncs = trace.syncs;
  std::vector<std::vector<Launched>> order(trace.streams.size());
  std::vector<bool> known(trace.streams.size(), false);
  const auto order_of = [&](RowIndex stream) -> const std::vector<Launched>& {
    if (!known[stream]) {
      known[stream] = true;
      order[stream] = launch_order(trace, activities, stream);
    }
    return order[stream];
  };
  for (RowIndex s = 0; s < syncs.size(); ++s) {
    if (syncs.kind[s] != profile::SyncKind::stream_wait_event || syncs.stream[s] == kNoRow)
      continue;
    const Nanoseconds wait_ns =
        syncs.call[s] == kNoRow ? syncs.start_ns[s] : trace.api_calls.start_ns[syncs.call[s]];
    const std::vector<Launched>& waiting = order_of(syncs.stream[s]);
    const auto first = std::lower_bound(waiting.begin(), waiting.end(), Launched{wait_ns, 0});
    if (first == waiting.end()) continue;
    waits_[first->activity] = true;
    if (syncs.event_stream[s] == kNoRow || syncs.event_record[s] == kNoRow) continue;
    const Nanoseconds record_ns = trace.api_calls.start_ns[syncs.event_record[s]];
    const std::vector<Launched>& recorded = order_of(syncs.event_stream[s]);
    const auto after = std::lower_bound(recorded.begin(), recorded.end(), Launched{record_ns, 0});
    if (after != recorded.begin()) edges_.push_back({first->activity, (after - 1)->activity});
  }
  std::sort(edges_.begin(), edges_.end(), [](const Edge& a, const Edge& b) {
    return std::tie(a.consumer, a.producer) < std::tie(b.consumer, b.producer);
  });
  for (const Edge& e : edges_) producers_.push_back(e.producer);
}

std::span<const ActivityIndex> EventWaits::producers(ActivityIndex i) const {
  const auto by_consumer = [](const Edge& e, ActivityIndex consumer) {
    return e.consumer < consumer;
  };
  const auto first = std::lower_bound(edges_.begin(), edges_.end(), i, by_consumer);
  const auto last = std::lower_bound(first, edges_.end(), i + 1, by_consumer);
  return {producers_.data() + (first - edges_.begin()), static_cast<std::size_t>(last - first)};
}

}  // namespace gprofml::analysis
