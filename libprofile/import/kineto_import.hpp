// Kineto and Chrome JSON traces.
#pragma once

#include <string>

#include "libprofile/import/import.hpp"

namespace gprofml::profile {

/// `import_file` for JSON whose top level is an array of events or an object with traceEvents.
Trace import_kineto(const std::string& path, const ImportOptions& options);

}  // namespace gprofml::profile
