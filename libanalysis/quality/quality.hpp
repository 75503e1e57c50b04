// Can these data be trusted? Runs before everything else; every report shows the answer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// One doubt about the data: `code` is stable, `message` a sentence for people with the figures.
struct QualityWarning {
  std::string code;
  std::int64_t count = 0;
  std::string message;
};

struct Quality {
  std::int64_t calls = 0;        ///< distinct (process, correlation id) of runtime and driver calls
  std::int64_t submissions = 0;  ///< calls that put, or by their name should put, work on a GPU
  std::int64_t linked_submissions =
      0;                      ///< of these, the ones whose work was recorded, with times or without
  std::int64_t linked = 0;    ///< GPU activities with a launch record
  std::int64_t unlinked = 0;  ///< GPU activities without one; kept and counted
  double coverage = 1.0;      ///< linked_submissions / submissions; 1 without submissions
  std::int64_t no_timestamp = 0;   ///< records with start = end = 0
  std::int64_t overruns = 0;       ///< activities that end impossibly late; corrected beside
  std::int64_t before_launch = 0;  ///< activities that start before their own launch call
  std::int64_t dropped = 0;        ///< records the source lost, and events that could not be read
  std::int64_t whole_graphs = 0;   ///< launches of CUDA graphs of which only the whole was recorded
  std::string work_left_out;       ///< see recorded_kinds.hpp
  std::vector<QualityWarning> warnings;  ///< ordered by code
};

}  // namespace gprofml::analysis
