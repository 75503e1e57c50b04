// The report of `gprof-ml analyze`, for other commands that go on to it.
#pragma once

#include <string>

namespace gprofml::app {

/// As `gprof-ml analyze PATH`: prints the report on standard output, returns the exit code.
int print_report(const std::string& path);

}  // namespace gprofml::app
