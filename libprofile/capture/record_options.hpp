// What is to be recorded, as `gprof-ml run` was told: the launcher's side of spool/options.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/spool/options.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// A step is a range of that name, a launch of a graph, or a synchronisation.
struct StepPlan {
  std::uint32_t wait = 0;    ///< steps before anything is recorded
  std::uint32_t warmup = 0;  ///< steps recorded and left out
  std::uint32_t active = 0;  ///< steps of a window
  std::uint32_t repeat = 1;  ///< times all this is done; 0: until the end
  std::string step;          ///< a range's name, "graph" or "sync"
  bool operator==(const StepPlan&) const = default;
};

/// All that the recorder can be told. The defaults are level 1, from the first moment to the last.
struct RecordOptions {
  std::uint32_t level = spool::kDefaultLevel;
  std::optional<std::uint32_t> groups;  ///< bits of spool::Group in place of the level's
  std::optional<bool> whole_graphs;     ///< nodes or whole, in place of the level's choice
  bool python = false;
  bool redact = false;
  std::uint64_t most_bytes = std::uint64_t{4} << 30;  ///< 0: no limit
  std::uint32_t budget_ppm = 0;                       ///< 0: none

  bool paused = false;
  bool profiler_api = false;
  Nanoseconds delay_ns = 0;
  Nanoseconds duration_ns = 0;   ///< 0: no limit
  Nanoseconds keep_last_ns = 0;  ///< 0: everything is kept
  std::string range;
  std::optional<std::uint64_t> range_index;
  std::optional<StepPlan> steps;

  bool operator==(const RecordOptions&) const = default;

  /// Recorded in parts, not from the first moment to the last.
  bool has_windows() const {
    return paused || profiler_api || delay_ns > 0 || duration_ns > 0 || !range.empty() || steps;
  }
};

/// The value of GPROFML_OPTIONS; empty when all is at its default, but for what the recorder does
/// not default to (the size limit).
std::string options_text(const RecordOptions& options);

/// The groups that are recorded: the level's, or the list's, graphs as asked.
std::uint32_t groups_of(const RecordOptions& options);

/// The names of groups, by commas, as `--kinds` takes them.
std::string group_names(std::uint32_t groups);

/// The bits of a list as `--kinds` takes it. Throws CaptureError that names a word it does not know
/// and lists those there are.
std::uint32_t groups_named(const std::string& list);

}  // namespace gprofml::profile
