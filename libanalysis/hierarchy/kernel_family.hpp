// What kind of work a kernel does, by its name.
#pragma once

#include <string>
#include <string_view>

#include "libanalysis/graph/activities.hpp"

namespace gprofml::analysis {

/// "GEMM, GEMV", "attention", "normalisation" …; the function's own name where none is known.
std::string kernel_family(WorkKind kind, std::string_view name);

}  // namespace gprofml::analysis
