// What `gprof-ml doctor` says: one finding a fact of the machine that decides what can be recorded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::profile {

enum class FindingLevel : std::uint8_t {
  ok,       ///< as it should be
  note,     ///< nothing is wrong; worth knowing when something is missing in a recording
  warning,  ///< a part is not recorded, or may not be
  problem,  ///< GPU work is not recorded, or nothing at all
};

/// "ok", "note", "warning", "problem".
const char* level_name(FindingLevel level);

struct Finding {
  FindingLevel level = FindingLevel::ok;
  std::string area;                 ///< recorder, driver, cupti, permission, sharing, tools, disk
  std::string code;                 ///< stable, snake_case
  std::string text;                 ///< one sentence: what was found and what it means
  std::vector<std::string> repair;  ///< commands to paste, one or the other where there are several
  std::vector<std::string> looked_at;  ///< places, in the order in which they count
};

using Findings = std::vector<Finding>;

}  // namespace gprofml::profile
