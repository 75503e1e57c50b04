// The report as JSON: keys that never change their meaning, for scripts and for CI.
#pragma once

#include <string>

#include "libanalysis/report/report.hpp"

namespace gprofml::analysis {

/// Version of the report's keys, written as `schema_version`; docs/report.schema.json describes it.
inline constexpr int kReportSchemaVersion = 1;

struct JsonOptions {
  bool path = false;         ///< write every segment of the critical path
  std::string tool_version;  ///< version of the program, written as `tool_version`
};

/// The report as one JSON document, indented by two, with a newline at the end. Keys stand in a
/// fixed order, times are integers in nanoseconds, what was not recorded is null, and equal reports
/// give equal bytes. Bytes that are no UTF-8 (names come from foreign files) become U+FFFD.
std::string render_json(const Report& report, const JsonOptions& options);

}  // namespace gprofml::analysis
