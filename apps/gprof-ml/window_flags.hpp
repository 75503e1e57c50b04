// The options of `run` that say when is recorded.
#pragma once

#include <CLI/CLI.hpp>

#include "libprofile/capture/record_options.hpp"

namespace gprofml::app {

/// Adds --delay, --duration, --keep-last, --range, --steps, --step, --profiler-api and
/// --start-paused. `options` must live until the command line is parsed.
void add_window_flags(CLI::App& command, profile::RecordOptions& options);

}  // namespace gprofml::app
