// Lines for the user on stderr.
#pragma once

#include <string>

namespace gprofml::app {

/// Prints "gprof-ml: TEXT" as one line: file names may hold line ends and escapes, which become
/// blanks and '?'.
void print_message(const std::string& text);

}  // namespace gprofml::app
