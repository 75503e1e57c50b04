// A recording in windows: what lies between them was not recorded, and no figure may reach over it.
#pragma once

#include <string>
#include <vector>

#include "libanalysis/window/window.hpp"

namespace gprofml::analysis {

/// [from, to): something of it was recorded at every moment.
struct RecordedWindow {
  profile::Nanoseconds from_ns = 0;
  profile::Nanoseconds to_ns = 0;
};

/// The windows of all processes, those that overlap joined, in the order of time. Two that touch are
/// two: something else was recorded from there on. Empty: everything was recorded.
std::vector<RecordedWindow> recorded_windows(const profile::Trace& trace);

/// The longest; the first of several. `windows` is not empty.
RecordedWindow longest(const std::vector<RecordedWindow>& windows);

/// Whether one of `windows` holds all of [from, to]; where there are none, everything is held.
bool was_recorded(const std::vector<RecordedWindow>& windows, profile::Nanoseconds from_ns,
                  profile::Nanoseconds to_ns);

/// How much of [from, to) was recorded.
profile::Nanoseconds recorded_of(const std::vector<RecordedWindow>& windows,
                                 profile::Nanoseconds from_ns, profile::Nanoseconds to_ns);

/// The steps that lie in the window as a whole, with their own periods.
Steps steps_in(const Steps& steps, const RecordedWindow& window);

/// Cuts `window`, which begins in `recorded`, off at its end, and says how many there are. Work
/// that runs beyond belongs to what was not recorded.
void confine(Window& window, const RecordedWindow& recorded, std::size_t windows);

}  // namespace gprofml::analysis
