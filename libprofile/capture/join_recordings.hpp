// Several recordings as one: the ranks of a job that each wrote a run.db of its own.
#pragma once

#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

struct NamedTrace {
  std::string name;  ///< the file, as the user knows it
  Trace trace;       ///< canonical
};

struct JoinedRecordings {
  Trace trace;                        ///< canonical
  std::vector<std::string> warnings;  ///< sentences: what speaks against their being one job
};

/// Joins at least one recording. Devices with the same UUID become one row, all else stays its
/// own. What `meta` of all inputs agrees on stands under its key; what not, once for each of their
/// processes, as "process.ROW.KEY" (ROW of Trace::processes); start_ns is the earliest, and one
/// simulated input makes the whole simulated. Warns when two recordings do not overlap in time,
/// when their job ids or world sizes differ, when two of them hold one rank.
JoinedRecordings join_recordings(std::vector<NamedTrace> recordings);

}  // namespace gprofml::profile
