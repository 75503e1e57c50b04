// Which part of the trace is analysed: the steps found in it and the window chosen.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// One step, as the range that marks it on its host thread.
struct Step {
  profile::Nanoseconds start_ns = 0;
  profile::Nanoseconds end_ns = 0;
  /// How long the step took: to the start of the next one; for the last, and where recording was
  /// interrupted before the next, its own length.
  profile::Nanoseconds period_ns = 0;
  bool is_followed = false;  ///< recorded up to the next one
  std::string name;
  std::int64_t launches = 0;  ///< GPU activities launched inside the step
  bool steady = true;
};

/// A step that took longer than median + max(5 MAD, 10 %).
struct StepOutlier {
  std::int64_t index = 0;
  profile::Nanoseconds duration_ns = 0;
  std::string name;
};

struct StepSignature {
  std::int64_t launches = 0;   ///< length of the most frequent launch sequence
  std::int64_t identical = 0;  ///< steps that have exactly that sequence
  std::int64_t of = 0;         ///< steps
};

/// The figures are over periods, which the last of several steps does not have, nor the last before
/// a gap in the recording; where no step is followed by another, over their own lengths. Of a
/// recording in windows, steps that were not recorded as a whole are no steps.
struct Steps {
  std::int64_t count = 0;
  std::string kind = "none";    ///< step | none
  std::string source = "none";  ///< ranges:ProfilerStep, ranges:NAME | none
  double confidence = 0.0;
  profile::Nanoseconds median_ns = 0;
  profile::Nanoseconds p95_ns = 0;
  profile::Nanoseconds p99_ns = 0;
  std::int64_t launches = 0;  ///< median number of GPU activities a step launches
  StepSignature signature;
  std::vector<StepOutlier> outliers;
  std::vector<Step> steps;  ///< in time order
  /// Where none were found: the repeating range that came closest, for the user to judge.
  std::string candidate;
};

struct LeftOut {
  std::string what;
  profile::Nanoseconds duration_ns = 0;
};

enum class WindowKind : std::uint8_t { all, steps, range };

/// [from, to): what is analysed. `sink_at_edge`: the walk starts from the activity that starts
/// exactly at `to` (the first of the next step) instead of from the last end inside.
struct Window {
  WindowKind kind = WindowKind::all;
  profile::Nanoseconds from_ns = 0;
  profile::Nanoseconds to_ns = 0;
  bool sink_at_edge = false;
  std::int64_t steps = 0;             ///< whole steps inside, for WindowKind::steps
  std::int64_t recorded_windows = 0;  ///< recorded in so many windows; 0: all along
  std::vector<LeftOut> left_out;

  /// Nothing of the trace lies outside, so nothing needs to be cut.
  bool is_whole() const { return kind == WindowKind::all && recorded_windows < 2; }
};

/// What the user asked for with --window and --range.
struct WindowRequest {
  enum class Kind : std::uint8_t { automatic, all, steps, range } kind = Kind::automatic;
  /// For Kind::range NAME or NAME#k; for Kind::steps the name of the range that marks the steps, or
  /// empty to find it.
  std::string range;
};

}  // namespace gprofml::analysis
