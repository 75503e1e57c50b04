// The folder in which a recording's processes write their spools, from the program's start until
// the run.db is complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

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

/// Waits until no spool is written to any more, but at most `patience_ms`.
void wait_for_writers(const std::string& folder, int patience_ms);

}  // namespace gprofml::profile
