// What is to be recorded in this process, read once from GPROFML_OPTIONS when the recording starts.
#pragma once

#include <cstdint>

#include "libprofile/spool/options.hpp"

namespace gprofml::injection {

struct Options {
  static constexpr std::size_t kLongestName = 512;
  static constexpr std::int64_t kAnyIndex = -1;

  std::uint32_t level = spool::kDefaultLevel;
  std::uint32_t groups = spool::groups_of_level(spool::kDefaultLevel);
  bool python = false;
  bool redact = false;
  std::uint64_t most_bytes = 0;  ///< 0: no limit
  std::uint32_t budget_ppm = 0;  ///< 0: no budget

  // When it is recorded.
  bool paused = false;
  bool profiler_api = false;
  std::int64_t delay_ns = 0;
  std::int64_t duration_ns = 0;   ///< 0: no limit
  std::int64_t keep_last_ns = 0;  ///< 0: everything is kept
  char range[kLongestName] = {};  ///< empty: none
  std::int64_t range_index = kAnyIndex;
  char step[kLongestName] = {};  ///< empty: no steps
  std::uint32_t steps_wait = 0;
  std::uint32_t steps_warmup = 0;
  std::uint32_t steps_active = 0;  ///< 0: no steps
  std::uint32_t steps_repeat = 1;  ///< 0: for ever

  bool records(std::uint32_t group) const { return (groups & group) != 0; }
  /// Recorded all along, from the first moment to the last.
  bool has_windows() const {
    return paused || profiler_api || delay_ns > 0 || duration_ns > 0 || range[0] != '\0' ||
           steps_active > 0;
  }
};

/// Reads the text of GPROFML_OPTIONS; nullptr gives the defaults. What is wrong is left at its
/// default and told to `complain(key, argument)`, which may be nullptr.
void read_options(const char* text, Options& options,
                  void (*complain)(const char* key, void* argument) = nullptr,
                  void* argument = nullptr);

}  // namespace gprofml::injection
