// Where gprof-ml's own arguments end and those of the program to record begin.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace gprofml::app {

/// Takes the program and its arguments off `arguments` (those behind the sub-command's name) and
/// returns them: from the first argument on that is neither an option of `command` nor an option's
/// value. A "--" before the program is dropped; whatever follows the program is the program's.
std::vector<std::string> split_program(std::vector<std::string>& arguments,
                                       const CLI::App& command);

}  // namespace gprofml::app
