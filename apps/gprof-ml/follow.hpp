// run --follow: what to record from what an earlier run.db left open.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "libprofile/capture/record_options.hpp"

namespace gprofml::app {

struct Follow {
  profile::RecordOptions options;
  std::vector<std::string> lines;           ///< for the user, before the program starts
  std::map<std::string, std::string> meta;  ///< follow_of, follow_reasons, …
};

/// Analyses `run_db` and plans. What the command line says goes before the plan: `given` with its
/// windows, `how_much_is_given` where it has a level or kinds. Throws as load_trace and
/// analysis::analyze do, std::invalid_argument for what is no recording of ours or an empty one.
Follow follow(const std::string& run_db, const profile::RecordOptions& given,
              bool how_much_is_given);

}  // namespace gprofml::app
