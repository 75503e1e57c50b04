#include "libanalysis/quality/given_up.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <vector>

namespace gprofml::analysis {
namespace {

using profile::Nanoseconds;

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::max();

/// Switches come a second apart or more.
std::string seconds_text(Nanoseconds duration_ns) {
  const Nanoseconds tenths = (duration_ns + 50'000'000) / 100'000'000;
  return fmt::format("{}.{} s", tenths / 10, tenths % 10);
}

/// The first moment of anything; kNever: there is none.
Nanoseconds beginning_of(const profile::Trace& trace) {
  Nanoseconds first = kNever;
  for (const std::vector<Nanoseconds>* times :
       {&trace.api_calls.start_ns, &trace.kernels.start_ns, &trace.copies.start_ns,
        &trace.fills.start_ns, &trace.ranges.start_ns, &trace.windows.start_ns,
        &trace.capture_events.time_ns}) {
    for (const Nanoseconds time : *times) {
      if (time > 0) first = std::min(first, time);
    }
  }
  return first;
}

struct Switch {
  Nanoseconds first_ns = kNever;
  std::set<profile::RowIndex> processes;

  bool happened() const { return !processes.empty(); }
};

Switch find(const profile::Trace& trace, std::string_view kind) {
  const profile::CaptureEventColumns& events = trace.capture_events;
  Switch found;
  for (std::size_t row = 0; row < events.size(); ++row) {
    if (trace.text(events.kind[row]) != kind) continue;
    found.first_ns = std::min(found.first_ns, events.time_ns[row]);
    found.processes.insert(events.process[row]);
  }
  return found;
}

std::int64_t windows_from(const profile::Trace& trace, Nanoseconds from_ns) {
  return std::count_if(trace.windows.start_ns.begin(), trace.windows.start_ns.end(),
                       [from_ns](Nanoseconds start) { return start >= from_ns; });
}

}  // namespace

std::string given_up(const profile::Trace& trace) {
  const Nanoseconds beginning = beginning_of(trace);
  const auto since = [beginning](const Switch& what) {
    return seconds_text(what.first_ns - beginning);
  };
  const auto in_processes = [&trace](const Switch& what) {
    if (trace.processes.size() < 2) return std::string();
    return fmt::format(" ({} of {} processes)", what.processes.size(), trace.processes.size());
  };
  std::string text;
  const Switch stacks = find(trace, "stacks_given_up");
  if (stacks.happened()) {
    text = fmt::format("call stacks given up after {}{}", since(stacks), in_processes(stacks));
  }
  const Switch memory = find(trace, "memory_events_given_up");
  if (memory.happened()) {
    text += fmt::format("{}memory events{} after {}{}", text.empty() ? "" : ", ",
                        text.empty() ? " given up" : "", since(memory), in_processes(memory));
  }
  const Switch windows = find(trace, "budget_window_closed");
  if (windows.happened()) {
    const std::int64_t count = windows_from(trace, windows.first_ns);
    text += fmt::format("{}from {} on {} recorded{}", text.empty() ? "" : "; ", since(windows),
                        count == 0   ? std::string("nothing")
                        : count == 1 ? std::string("1 window")
                                     : fmt::format("{} windows", count),
                        in_processes(windows));
  }
  const Switch exceeded = find(trace, "budget_not_held");
  if (exceeded.happened()) {
    text += fmt::format("{}the budget was not held", text.empty() ? "" : "; ");
  }
  return text;
}

}  // namespace gprofml::analysis
