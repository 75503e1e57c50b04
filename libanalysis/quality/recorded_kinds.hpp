// What a recording was asked to leave out.
#pragma once

#include <string>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// The kinds of GPU work that were not to be recorded, in words ("kernels, copies and fills");
/// empty where all were, or the source does not say. Their time looks idle.
std::string work_left_out(const profile::Trace& trace);

}  // namespace gprofml::analysis
