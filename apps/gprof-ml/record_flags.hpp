// The options of `run` that say what is recorded.
#pragma once

#include <CLI/CLI.hpp>

#include "libprofile/capture/record_options.hpp"

namespace gprofml::app {

/// Adds --level, --kinds, --graphs, --max-size and --redact. `options` must live until the command
/// line is parsed.
void add_record_flags(CLI::App& command, profile::RecordOptions& options);

}  // namespace gprofml::app
