// The end-of-run summary: what was recorded, what was lost, where it is, what to do next.
#pragma once

#include <string>
#include <vector>

#include "apps/gprof-ml/run_output.hpp"
#include "libprofile/capture/launch.hpp"
#include "libprofile/capture/merge.hpp"

namespace gprofml::app {

struct SummaryInput {
  const profile::Recording* recording = nullptr;
  std::string output;  ///< the run.db as the user knows it
  WrittenRunDb written;
  profile::Nanoseconds merge_ns = 0;  ///< from the spools to the complete run.db
  std::string spools;                 ///< a spool folder that stays; empty: removed
  std::string recover;                ///< the command that takes the rest of it once it is whole
};

/// What the program became: `simgpu -- ./a.out`, and any other wrapper, is a.out once it has called
/// exec, under the same pid. The command's own first word where the recording does not say.
std::string program_that_ran(const std::vector<std::string>& command,
                             const profile::Recording& recording, std::int64_t pid);

/// "NAME exited 0 after 61.4 s (output and exit code are its own)", without "gprof-ml: ".
std::string end_sentence(const std::string& program, const profile::ProgramEnd& end);

/// The lines below it, each with its line end, in 80 columns; commands to paste are never broken.
std::string summary_lines(const SummaryInput& input);

/// Why a recording without any record has none: a clause. Empty where that is not noted.
std::string reason_for_nothing(const profile::Trace& trace);

/// `gprof-ml recover FOLDER`, replacing the output where that was written from the folder before.
std::string recover_command(const std::string& folder, bool replace);

/// A word of a shell command, quoted where it must be.
std::string shell_word(const std::string& text);

}  // namespace gprofml::app
