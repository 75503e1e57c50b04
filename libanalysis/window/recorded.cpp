#include "libanalysis/window/recorded.hpp"

#include <algorithm>
#include <cstddef>

namespace gprofml::analysis {

std::vector<RecordedWindow> recorded_windows(const profile::Trace& trace) {
  std::vector<RecordedWindow> all;
  for (std::size_t row = 0; row < trace.windows.size(); ++row) {
    all.push_back({trace.windows.start_ns[row], trace.windows.end_ns[row]});
  }
  std::sort(all.begin(), all.end(),
            [](const RecordedWindow& a, const RecordedWindow& b) { return a.from_ns < b.from_ns; });
  std::vector<RecordedWindow> joined;
  for (const RecordedWindow& window : all) {
    if (!joined.empty() && window.from_ns < joined.back().to_ns) {
      joined.back().to_ns = std::max(joined.back().to_ns, window.to_ns);
    } else {
      joined.push_back(window);
    }
  }
  return joined;
}

RecordedWindow longest(const std::vector<RecordedWindow>& windows) {
  return *std::max_element(windows.begin(), windows.end(),
                           [](const RecordedWindow& a, const RecordedWindow& b) {
                             return a.to_ns - a.from_ns < b.to_ns - b.from_ns;
                           });
}

bool was_recorded(const std::vector<RecordedWindow>& windows, profile::Nanoseconds from_ns,
                  profile::Nanoseconds to_ns) {
  if (windows.empty()) return true;
  const auto after = std::upper_bound(
      windows.begin(), windows.end(), from_ns,
      [](profile::Nanoseconds time, const RecordedWindow& w) { return time < w.from_ns; });
  return after != windows.begin() && to_ns <= (after - 1)->to_ns;
}

profile::Nanoseconds recorded_of(const std::vector<RecordedWindow>& windows,
                                 profile::Nanoseconds from_ns, profile::Nanoseconds to_ns) {
  if (windows.empty()) return to_ns - from_ns;
  profile::Nanoseconds sum = 0;
  for (const RecordedWindow& w : windows) {
    sum +=
        std::max<profile::Nanoseconds>(0, std::min(to_ns, w.to_ns) - std::max(from_ns, w.from_ns));
  }
  return sum;
}

Steps steps_in(const Steps& steps, const RecordedWindow& window) {
  Steps inside = steps;
  inside.steps.clear();
  for (const Step& step : steps.steps) {
    if (step.start_ns >= window.from_ns && step.end_ns <= window.to_ns) {
      inside.steps.push_back(step);
    }
  }
  inside.count = static_cast<std::int64_t>(inside.steps.size());
  return inside;
}

void confine(Window& window, const RecordedWindow& recorded, std::size_t windows) {
  window.recorded_windows = static_cast<std::int64_t>(windows);
  if (window.to_ns <= recorded.to_ns) return;
  window.to_ns = recorded.to_ns;
  window.sink_at_edge = false;
}

}  // namespace gprofml::analysis
