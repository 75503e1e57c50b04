// The folder in which a recording's processes write their spools, from the program's start until
// the run.db is complete.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

struct SpoolFolder {
  std::string path;    ///< absolute; empty: none could be made
  bool beside = true;  ///< beside the output, not in the folder for temporary files
  std::string reason;  ///< why not beside the output, or why none at all
};

/// Makes a new folder of mode 0700 beside `output` (an absolute path), else in $TMPDIR or /tmp. It
/// never uses a folder that exists.
SpoolFolder make_spool_folder(const std::string& output);

/// Removes a spool folder: its spools, what was seen of the machine, its manifest, then the folder,
/// and nothing else. False when something is left.
bool remove_spool_folder(const std::string& folder);

/// The spools of a folder that their processes still write to: they hold a lock while they live.
/// Empty when the folder cannot be read.
std::vector<std::string> live_spools(const std::string& folder);

/// How long the launcher waits for processes that outlive the program.
struct Patience {
  Nanoseconds time_ns = 1'000'000'000;
  bool is_endless = false;
  /// Processes that the program has left behind count, too, that may yet begin to record: all that
  /// carry the recording's variables in their environment.
  bool for_processes = false;
};

/// The living processes, of those that we may look at, that were started with this recording's
/// variables.
std::vector<std::int64_t> processes_told_of(const std::string& folder);

/// Waits until no spool is written to any more, but no longer than `patience`, nor than until
/// `enough` says so. Once the wait is one that people notice, `say` is told how many still write.
void wait_for_writers(const std::string& folder, const Patience& patience,
                      const std::function<void(std::size_t)>& say = {},
                      const std::function<bool()>& enough = {});

}  // namespace gprofml::profile
