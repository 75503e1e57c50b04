// The whole offline analysis: from a Trace to a Report.
#pragma once

#include <string>

#include "libanalysis/report/report.hpp"
#include "libanalysis/serving/serving.hpp"
#include "libanalysis/window/window.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

struct AnalyzeOptions {
  WindowRequest window;
  std::string source;  ///< the input's name, for the report
  bool path = false;   ///< name every segment of the critical path (Report::segments)
  ServingNames serving;
};

/// Runs every analysis in order: quality, window and steps, timeline and idle causes, kernels, ops,
/// dependency graph, critical path, ranking. `trace` must be canonical (see profile::canonicalise).
/// The result depends on the trace alone. Throws std::invalid_argument with a sentence for the user
/// when the requested window does not exist (no such range, no steps), or times are absurd.
Report analyze(const profile::Trace& trace, const AnalyzeOptions& options);

}  // namespace gprofml::analysis
