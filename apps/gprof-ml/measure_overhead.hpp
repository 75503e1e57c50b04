// `run --measure-overhead`: the program with and without recording, in turns.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/capture/launch.hpp"
#include "libprofile/capture/paired_overhead.hpp"

namespace gprofml::app {

/// What a series of runs found out.
struct MeasuredOverhead {
  std::vector<profile::RunPair> pairs;
  std::string stopped;  ///< why the series ended early; empty: it did not
};

/// Runs `command` 2 × `pairs` times, in the order without, with, with, without …; `record` runs it
/// recorded and returns how it ended (nullopt: it did not start). The series ends early when a run
/// does not exit with 0. Standard input, where it is a file, is set back to its begin for each run.
MeasuredOverhead measure_overhead(
    const std::vector<std::string>& command, unsigned pairs,
    const std::function<std::optional<profile::ProgramEnd>()>& record);

/// For the summary, with glue (report/wrap.hpp): "+3.1 % [+2.2, +4.0] of wall time, measured: …".
std::string overhead_text(const MeasuredOverhead& measured);

/// Keys of `meta` that hold it, in parts per million and nanoseconds; empty without a pair.
std::map<std::string, std::string> overhead_meta(const MeasuredOverhead& measured);

}  // namespace gprofml::app
