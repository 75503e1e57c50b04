// The one sentence at the top: what bounds this run.
#pragma once

#include <string>

#include "libanalysis/report/report.hpp"

namespace gprofml::analysis {

/// The verdict over a report whose other parts are filled: the largest of GPU work, host causes,
/// communication and copies on the critical path; unknown where the path is partial, where most
/// idle time has no recorded reason, where the clocks contradict each other, or without GPU work.
Verdict judge(const Report& report);

}  // namespace gprofml::analysis
