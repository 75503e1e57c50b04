// Figures that the program printed itself and `gprof-ml run --metric` read from its output.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gprofml::analysis {

/// One metric. In whatever unit the program prints; doubles, since it prints decimals.
struct ProgramMetric {
  std::string name;
  std::string pattern;          ///< the regular expression
  std::int64_t count = 0;       ///< matches that are a number
  std::optional<double> value;  ///< of the last match; nullopt: none matched
  double min = 0;               ///< of all matches; 0 without any
  double max = 0;
};

/// The metrics of a recording's `meta`: metric.NAME and metric.NAME.pattern, .count, .min, .max;
/// by name.
std::vector<ProgramMetric> program_metrics(const std::map<std::string, std::string>& meta);

}  // namespace gprofml::analysis
