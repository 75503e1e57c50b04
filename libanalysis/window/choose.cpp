#include "libanalysis/window/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

#include "libanalysis/window/recorded.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RangeKind;
using profile::RowIndex;

namespace {

constexpr double kConfidentSteps = 0.8;
constexpr std::int64_t kFewestSteps = 2;

class Extent {
 public:
  void add(Nanoseconds start, Nanoseconds end) {
    if (!profile::has_timestamp(start, end)) return;
    from_ = std::min(from_, start);
    to_ = std::max(to_, end);
  }
  bool empty() const { return from_ > to_; }
  Nanoseconds from() const { return from_; }
  Nanoseconds to() const { return to_; }

 private:
  Nanoseconds from_ = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds to_ = std::numeric_limits<Nanoseconds>::min();
};

// The first activity, in order of starts, whose call began in [from, to); kNoActivity: none.
ActivityIndex first_launched(const DependencyGraph& graph, Nanoseconds from, Nanoseconds to) {
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!graph.work.linked(i)) continue;
    const Nanoseconds launch = graph.launch_start_ns(i);
    if (from <= launch && launch < to) return i;
  }
  return kNoActivity;
}

std::optional<Window> steady_steps(const DependencyGraph& graph, const Steps& steps) {
  constexpr Nanoseconds kEver = std::numeric_limits<Nanoseconds>::max();
  const auto first =
      std::find_if(steps.steps.begin(), steps.steps.end(), [](const Step& s) { return s.steady; });
  if (first == steps.steps.end()) return std::nullopt;
  const Step& last = steps.steps.back();
  const ActivityIndex begin = first_launched(graph, first->start_ns, last.end_ns);
  if (begin == kNoActivity) return std::nullopt;
  Window window;
  window.kind = WindowKind::steps;
  window.from_ns = graph.work.start_ns[begin];
  window.steps = steps.steps.end() - first;
  ActivityIndex edge = first_launched(graph, last.end_ns, kEver);
  if (edge == kNoActivity && window.steps > 1) {
    edge = first_launched(graph, last.start_ns, last.end_ns);
    --window.steps;
  }
  window.sink_at_edge = edge != kNoActivity && graph.work.start_ns[edge] > window.from_ns;
  window.to_ns = window.sink_at_edge
                     ? graph.work.start_ns[edge]
                     : *std::max_element(graph.work.end_ns.begin(), graph.work.end_ns.end());
  return window;
}

void say_left_out(const DependencyGraph& graph, const Steps& steps, Window& window) {
  const std::optional<Window> all = whole_trace(graph);
  Nanoseconds at = all->from_ns;
  const auto leave_until = [&](std::string what, Nanoseconds until) {
    if (until <= at) return;
    window.left_out.push_back({std::move(what), until - at});
    at = until;
  };
  if (window.kind == WindowKind::steps) {
    const auto steady = std::find_if(steps.steps.begin(), steps.steps.end(),
                                     [](const Step& s) { return s.steady; });
    const auto warm = steady - steps.steps.begin();
    leave_until("before the first step", std::min(steps.steps.front().start_ns, window.from_ns));
    leave_until(fmt::format("{} warm-up step{}", warm, warm == 1 ? "" : "s"),
                std::min(steady->start_ns, window.from_ns));
    leave_until("before the first GPU work of the first step counted", window.from_ns);
    at = std::max(at, window.to_ns);
    leave_until("after the last whole step", all->to_ns);
  } else {
    leave_until("before the range", window.from_ns);
    at = std::max(at, window.to_ns);
    leave_until("after the range", all->to_ns);
  }
}

RowIndex find_range(const profile::Trace& trace, const std::string& request) {
  const profile::RangeColumns& ranges = trace.ranges;
  const auto named = [&](std::string_view name) {
    std::vector<RowIndex> rows;
    for (RowIndex r = 0; r < ranges.size(); ++r) {
      if (trace.text(ranges.name[r]) == name) rows.push_back(r);
    }
    std::sort(rows.begin(), rows.end(), [&](RowIndex a, RowIndex b) {
      return std::tie(ranges.start_ns[a], ranges.end_ns[a], a) <
             std::tie(ranges.start_ns[b], ranges.end_ns[b], b);
    });
    return rows;
  };
  if (const auto exact = named(request); !exact.empty()) return exact.front();
  const std::size_t hash = request.rfind('#');
  if (hash != std::string::npos) {
    std::size_t k = 0;
    const char* end = request.data() + request.size();
    const auto parsed = std::from_chars(request.data() + hash + 1, end, k);
    const auto rows = named(std::string_view(request).substr(0, hash));
    if (parsed.ec == std::errc() && parsed.ptr == end && !rows.empty()) {
      if (k < rows.size()) return rows[k];
      throw std::invalid_argument(fmt::format(
          "range '{}' occurs {} time{}: the last is '{}#{}'", request.substr(0, hash), rows.size(),
          rows.size() == 1 ? "" : "s", request.substr(0, hash), rows.size() - 1));
    }
  }
  throw std::invalid_argument(
      fmt::format("no range is named '{}': the trace has {} ranges", request, ranges.size()));
}

// A range holds its own time on the host and all the GPU work it launched, to that work's end.
Window range_window(const DependencyGraph& graph, const std::string& name) {
  const RowIndex r = find_range(graph.trace, name);
  const Nanoseconds start = graph.trace.ranges.start_ns[r];
  const Nanoseconds end = graph.trace.ranges.end_ns[r];
  Window window;
  window.kind = WindowKind::range;
  window.from_ns = start;
  window.to_ns = end;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    if (!graph.work.linked(i)) continue;
    const Nanoseconds launch = graph.launch_start_ns(i);
    if (start <= launch && launch < end)
      window.to_ns = std::max(window.to_ns, graph.work.end_ns[i]);
  }
  return window;
}

std::string no_steps_sentence(const Steps& steps, const WindowRequest& request) {
  if (steps.count > 0) return "the steps launched no GPU work; use --window all";
  if (!request.range.empty()) {
    return fmt::format("no range is named '{}', or its occurrences overlap", request.range);
  }
  return fmt::format(
      "no steps were found: there is no ProfilerStep# mark, and no range repeats over half of the "
      "GPU's time with a synchronisation, free or copy each time; name the range that is a step "
      "with --range {}, or use --window all",
      steps.candidate.empty() ? "NAME" : "'" + steps.candidate + "'");
}

/// One of several windows: nothing may reach over what was not recorded between them.
Window choose_recorded(const DependencyGraph& graph, const Steps& steps,
                       const WindowRequest& request, const std::vector<RecordedWindow>& recorded) {
  using Kind = WindowRequest::Kind;
  RecordedWindow within = longest(recorded);
  std::optional<Window> chosen;
  if (request.kind == Kind::range) {
    chosen = range_window(graph, request.range);
    const RowIndex range = find_range(graph.trace, request.range);
    const auto holds = [&](const RecordedWindow& window) {
      return graph.trace.ranges.start_ns[range] >= window.from_ns &&
             graph.trace.ranges.end_ns[range] <= window.to_ns;
    };
    const auto found = std::find_if(recorded.begin(), recorded.end(), holds);
    if (found == recorded.end()) {
      throw std::invalid_argument(fmt::format(
          "range '{}' was not recorded as a whole: it reaches out of the recording's windows",
          request.range));
    }
    within = *found;
  }
  const Steps inside = steps_in(steps, within);
  const bool wanted = request.kind == Kind::steps ||
                      (request.kind == Kind::automatic && steps.confidence >= kConfidentSteps);
  if (wanted && inside.count > 0) chosen = steady_steps(graph, inside);
  if (request.kind == Kind::automatic && chosen && chosen->steps < kFewestSteps) chosen.reset();
  if (request.kind == Kind::steps && !chosen) {
    throw std::invalid_argument(no_steps_sentence(steps, request));
  }
  Window window = chosen.value_or(Window{});
  if (!chosen) {
    window.from_ns = within.from_ns;
    window.to_ns = within.to_ns;
  }
  confine(window, within, recorded.size());
  Nanoseconds elsewhere = 0;
  for (const RecordedWindow& other : recorded) elsewhere += other.to_ns - other.from_ns;
  elsewhere -= within.to_ns - within.from_ns;
  window.left_out.push_back({"other recorded windows", elsewhere});
  return window;
}

}  // namespace

std::optional<Window> whole_trace(const DependencyGraph& graph) {
  Extent extent;
  for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
    extent.add(graph.work.start_ns[i], graph.work.end_ns[i]);
  }
  const profile::ApiCallColumns& calls = graph.trace.api_calls;
  for (RowIndex c = 0; c < calls.size(); ++c) extent.add(calls.start_ns[c], calls.end_ns[c]);
  const profile::RangeColumns& ranges = graph.trace.ranges;
  for (RowIndex r = 0; r < ranges.size(); ++r) {
    if (graph.threads.covers(r)) extent.add(ranges.start_ns[r], ranges.end_ns[r]);
  }
  if (extent.empty()) return std::nullopt;
  Window window;
  window.from_ns = extent.from();
  window.to_ns = extent.to();
  return window;
}

Window choose_window(const DependencyGraph& graph, const Steps& steps,
                     const WindowRequest& request) {
  using Kind = WindowRequest::Kind;
  const std::vector<RecordedWindow> recorded = recorded_windows(graph.trace);
  if (recorded.size() > 1) return choose_recorded(graph, steps, request, recorded);
  std::optional<Window> chosen;
  if (request.kind == Kind::range) chosen = range_window(graph, request.range);
  const bool steps_wanted = request.kind == Kind::steps || (request.kind == Kind::automatic &&
                                                            steps.confidence >= kConfidentSteps);
  if (steps_wanted && steps.count > 0) chosen = steady_steps(graph, steps);
  if (request.kind == Kind::automatic && chosen && chosen->steps < kFewestSteps) chosen.reset();
  if (request.kind == Kind::steps && !chosen) {
    throw std::invalid_argument(no_steps_sentence(steps, request));
  }
  if (chosen) chosen->recorded_windows = static_cast<std::int64_t>(recorded.size());
  if (!chosen) {
    Window all = whole_trace(graph).value_or(Window{});
    all.recorded_windows = static_cast<std::int64_t>(recorded.size());
    return all;
  }
  say_left_out(graph, steps, *chosen);
  return *chosen;
}

}  // namespace gprofml::analysis
