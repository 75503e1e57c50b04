// The report as text: a sentence first, then the evidence, in 80 columns.
#pragma once

#include <string>

#include "libanalysis/report/report.hpp"

namespace gprofml::analysis {

struct TextOptions {
  int top = 10;              ///< rows of the kernel and op tables
  bool path = false;         ///< list every segment of the critical path
  bool color = false;        ///< bold headings for a terminal (ANSI escapes)
  bool is_run_db = false;    ///< the input is a run.db: `next:` does not advise to import it
  std::string tool_version;  ///< version of the program, for the first line
};

/// The report for people. No line is longer than 80 columns (escapes aside), every figure has its
/// unit, the printed parts of a table add up to its printed total, and "~" stands before what rests
/// on inferred dependencies. Names are shortened and made safe for a terminal; JSON has them whole.
std::string render_text(const Report& report, const TextOptions& options);

}  // namespace gprofml::analysis
