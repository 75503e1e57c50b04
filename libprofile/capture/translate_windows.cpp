// Windows and what else the recorder did to itself.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "libprofile/capture/prune_to_windows.hpp"
#include "libprofile/capture/translate_process.hpp"

namespace gprofml::profile {
namespace {

/// The first moment of anything that a recording from its beginning holds.
Nanoseconds first_moment(const Trace& trace) {
  Nanoseconds first = std::numeric_limits<Nanoseconds>::max();
  const auto look = [&](const std::vector<Nanoseconds>& times) {
    for (const Nanoseconds time : times) {
      if (time != 0) first = std::min(first, time);
    }
  };
  look(trace.api_calls.start_ns);
  look(trace.kernels.start_ns);
  look(trace.copies.start_ns);
  look(trace.fills.start_ns);
  look(trace.ranges.start_ns);
  return first;
}

}  // namespace

void ProcessTranslator::take(const spool::Window& record) {
  is_windowed_ = true;
  if (record.end_ns != 0 && record.end_ns < record.start_ns) {
    ++facts_.bad_times;
    return;
  }
  windows_[record.index] = record;
}

void ProcessTranslator::take(const spool::CaptureEvent& record) {
  const StringId kind = name_of(record.kind);
  if (trace_.text(kind) == "windowed") {
    is_windowed_ = true;
    return;
  }
  if (trace_.text(kind) == "keep_last") {
    keep_last_ns_ = std::max<Nanoseconds>(record.value, 0);
    return;
  }
  CaptureEventColumns& events = trace_.capture_events;
  events.time_ns.push_back(record.time_ns);
  events.process.push_back(0);
  events.kind.push_back(kind);
  events.detail.push_back(name_of(record.detail));
  events.value.push_back(record.value);
}

// --- the last part alone ---------------------------------------------------------------------

void ProcessTranslator::take(const spool::Segment& record) {
  ranges_.are_told_again(false);
  is_repeated_ = record.part == spool::SegmentPart::begins && first_segment_.has_value();
  if (!first_segment_) first_segment_ = record;
}

bool ProcessTranslator::is_on_the_systems_clock() const {
  constexpr std::uint64_t kFurthestApart = 60'000'000'000;
  const spool::Status& status = facts_.status;
  const auto apart = static_cast<std::uint64_t>(status.cupti_ns) -
                     static_cast<std::uint64_t>(status.realtime_ns) + kFurthestApart;
  return status.realtime_ns != 0 && (status.cupti_ns == 0 || apart < 2 * kFurthestApart);
}

/// The last part is that before the end, whatever happened last: a program that hangs has done
/// nothing for a while.
void ProcessTranslator::see_the_end() {
  if (keep_last_ns_ == 0 || !is_on_the_systems_clock()) return;
  saw(facts_.status.cupti_ns != 0 ? facts_.status.cupti_ns : facts_.status.realtime_ns);
}

/// From when on everything is there that is to be kept.
Nanoseconds ProcessTranslator::kept_from() {
  const Nanoseconds from_ns = facts_.last_ns - std::min(keep_last_ns_, facts_.last_ns);
  if (!first_segment_ || first_segment_->index == 0) {
    return std::max(from_ns, std::min(first_moment(trace_), facts_.last_ns));
  }
  const Nanoseconds begun_ns = std::min(first_segment_->time_ns, facts_.last_ns);
  if (!is_on_the_systems_clock() || begun_ns <= from_ns) return from_ns;
  facts_.notes[{"keep_last_cut",
                fmt::format("only the last {} ms of the recording are there: what was to be kept "
                            "found no room below --max-size",
                            (facts_.last_ns - begun_ns) / 1'000'000)}] += 1;
  return begun_ns;
}

void ProcessTranslator::keep_last() {
  const WindowInterval kept{kept_from(), facts_.last_ns};
  trace_.windows.start_ns.push_back(kept.start_ns);
  trace_.windows.end_ns.push_back(kept.end_ns);
  trace_.windows.process.push_back(0);
  trace_.windows.reason.push_back(trace_.intern("keep-last"));
  facts_.windows = 1;
  facts_.is_windowed = true;
  prune_to_last(trace_, kept);
}

void ProcessTranslator::keep_windows() {
  if (keep_last_ns_ > 0 && !is_windowed_) return keep_last();
  if (!is_windowed_) return;
  const Nanoseconds from_ns =
      keep_last_ns_ > 0 ? kept_from() : std::numeric_limits<Nanoseconds>::min();
  std::vector<WindowInterval> kept;
  for (const auto& [index, window] : windows_) {
    const bool complete = window.state == spool::WindowState::complete;
    if (complete_windows_only_ && (index < first_window_ || !complete)) continue;
    WindowInterval interval{window.start_ns, window.end_ns};
    if (interval.start_ns == 0) interval.start_ns = std::min(first_moment(trace_), facts_.last_ns);
    if (window.state == spool::WindowState::open) {
      // It lasts until the end, which the process may have reached before a planned one.
      interval.end_ns =
          window.end_ns == 0 ? facts_.last_ns : std::min(window.end_ns, facts_.last_ns);
    }
    interval.end_ns = std::max(interval.start_ns, interval.end_ns);
    if (!kept.empty()) interval.start_ns = std::max(interval.start_ns, kept.back().end_ns);
    interval.start_ns = std::max(interval.start_ns, from_ns);
    if (interval.end_ns < interval.start_ns) continue;
    kept.push_back(interval);
    trace_.windows.start_ns.push_back(interval.start_ns);
    trace_.windows.end_ns.push_back(interval.end_ns);
    trace_.windows.process.push_back(0);
    trace_.windows.reason.push_back(name_of(window.reason));
  }
  facts_.windows = static_cast<std::int64_t>(kept.size());
  facts_.is_windowed = true;
  facts_.work_outside_windows = prune_to_windows(trace_, kept).work;
}

}  // namespace gprofml::profile
