// Where a recording's run.db goes, and what becomes of a file that is there already.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libprofile/capture/rank.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::app {

inline constexpr char kDefaultRunDb[] = "run.db";
inline constexpr char kDefaultRankRunDb[] = "run.%r.db";  ///< where this process has a rank

/// What happens to a file that has the output's name.
enum class Existing : std::uint8_t {
  refuse,    ///< -o FILE: it stays, nothing is written
  replace,   ///< --force
  keep_old,  ///< the default name: it becomes FILE.old, in place of an earlier FILE.old
};

struct RunOutput {
  std::string path;   ///< absolute
  std::string shown;  ///< as the user knows it
  Existing existing = Existing::refuse;
};

/// The rank that this process's environment says it has.
std::optional<profile::Rank> rank_here();

/// Throws CaptureError when `pattern` cannot be expanded here.
void check_output_name(const std::string& pattern);

/// The output of a command line: `pattern` as given with -o, empty for the default name.
RunOutput run_output(const std::string& pattern, bool force, std::int64_t pid);

/// Throws OutputError with one line when `output` could not be written now: no such folder, no
/// permission, a file in the way. Asked before the program starts.
void check_run_output(const RunOutput& output);

struct WrittenRunDb {
  std::uint64_t bytes = 0;
  bool kept_old = false;  ///< a previous one is now FILE.old
};

/// Writes the trace to `output`. The file appears under its name only when it is complete; until
/// then one that is there stays. Throws OutputError or profile::StoreError.
WrittenRunDb write_run_output(const profile::Trace& trace, const RunOutput& output);

}  // namespace gprofml::app
