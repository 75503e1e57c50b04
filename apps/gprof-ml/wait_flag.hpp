// The option --wait of `run`.
#pragma once

#include <string>

#include "libprofile/capture/spool_folder.hpp"

namespace gprofml::app {

/// "none", "all" or seconds. Throws CLI::ValidationError.
profile::Patience patience_of(const std::string& text);

}  // namespace gprofml::app
