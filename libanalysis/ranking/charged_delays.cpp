#include "libanalysis/ranking/charged_delays.hpp"

#include <algorithm>
#include <optional>

#include "libanalysis/graph/arrivals.hpp"
#include "libanalysis/graph/slack.hpp"

namespace gprofml::analysis {

using profile::Nanoseconds;
using profile::RowIndex;

namespace {

Sink sink_of(const DependencyGraph& graph, const Window& window) {
  if (!window.sink_at_edge) return sink_at_last_end(graph, window.to_ns);
  const std::vector<Nanoseconds>& starts = graph.work.start_ns;
  const auto first = std::lower_bound(starts.begin(), starts.end(), window.to_ns);
  return {window.to_ns, static_cast<ActivityIndex>(first - starts.begin())};
}

Nanoseconds near_critical(const Window& window, const Steps& steps) {
  const bool known = steps.count > 0 && steps.median_ns > 0;
  return (known ? steps.median_ns : window.to_ns - window.from_ns) / 100;
}

// The last arrival; the launch only where it is later than all earlier work.
const WorkArrival* last_of(const std::vector<WorkArrival>& arrivals) {
  const WorkArrival* last = nullptr;
  for (const WorkArrival& a : arrivals) {
    if (last == nullptr || a.at_ns > last->at_ns) last = &a;
  }
  return last;
}

Nanoseconds duration_of(const DependencyGraph& graph, const WorkArrival& a) {
  if (a.from_host()) {
    return graph.trace.api_calls.end_ns[a.call] - graph.trace.api_calls.start_ns[a.call];
  }
  return graph.work.corrected_end_ns[a.activity] - graph.work.start_ns[a.activity];
}

Nanoseconds charge(const DependencyGraph& graph, const std::vector<WorkArrival>& arrivals,
                   const WorkArrival& last) {
  Nanoseconds ns = duration_of(graph, last);
  for (const WorkArrival& a : arrivals) {
    if (&a != &last) ns = std::min(ns, last.at_ns - a.at_ns);
  }
  return ns;
}

void charge_work(const DependencyGraph& graph, const Window& window, const Slack& slack,
                 Nanoseconds limit, std::vector<ChargedDelay>& delays) {
  const Arrivals arrivals(graph);
  std::vector<WorkArrival> of_work;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    const Nanoseconds start = graph.work.start_ns[i];
    if (start < window.from_ns || start >= window.to_ns || slack.of_work(i) > limit) continue;
    arrivals.of(i, of_work);
    const WorkArrival* last = last_of(of_work);
    if (last == nullptr) continue;
    const Nanoseconds ns = charge(graph, of_work, *last);
    if (ns <= 0) continue;
    const Instance by =
        last->from_host() ? Instance{true, last->call} : Instance{false, last->activity};
    delays.push_back({{false, i}, by, ns});
  }
}

void charge_blocking_calls(const DependencyGraph& graph, const Window& window, const Slack& slack,
                           Nanoseconds limit, std::vector<ChargedDelay>& delays) {
  const profile::ApiCallColumns& calls = graph.trace.api_calls;
  for (RowIndex t = 0; t < graph.threads.size(); ++t) {
    for (const RowIndex c : graph.threads[t].outermost_calls) {
      const Nanoseconds end = calls.end_ns[c];
      if (end <= window.from_ns || end > window.to_ns || slack.of_return(c) > limit) continue;
      if (!graph.blocking.blocks(c)) continue;
      const std::optional<Awaited> awaited = graph.blocking.awaited(c, end);
      if (!awaited) continue;
      const Nanoseconds ns =
          std::min(awaited->end_ns, end) - std::max(calls.start_ns[c], window.from_ns);
      if (ns > 0) delays.push_back({{true, c}, {false, awaited->activity}, ns});
    }
  }
}

}  // namespace

std::vector<ChargedDelay> charged_delays(const DependencyGraph& graph, const Window& window,
                                         const Steps& steps) {
  const Slack slack(graph, sink_of(graph, window));
  const Nanoseconds limit = near_critical(window, steps);
  std::vector<ChargedDelay> delays;
  charge_work(graph, window, slack, limit, delays);
  charge_blocking_calls(graph, window, slack, limit, delays);
  return delays;
}

}  // namespace gprofml::analysis
