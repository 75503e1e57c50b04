// Maps of code made at run time (/tmp/perf-PID.map), which Python and others write where they are
// told to and which do not outlive the next process of that id: kept beside the spools.
#pragma once

#include <string>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// Copies the map of each process that has a spool in the folder, where there is one that was
/// written since `start_ns` (CLOCK_REALTIME) by this user. `maps`: where they are written to.
void keep_perf_maps(const std::string& folder, Nanoseconds start_ns,
                    const std::string& maps = "/tmp");

/// Whether a file of the spool folder is such a copy.
bool is_perf_map(const std::string& name);

/// The variable that has Python (3.12 and later) write its map, and the value for that.
inline constexpr char kPythonPerfVariable[] = "PYTHONPERFSUPPORT";

}  // namespace gprofml::profile
