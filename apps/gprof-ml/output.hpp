// Where a sub-command's result goes: standard output, or a file that is whole or not there.
#pragma once

#include <stdexcept>
#include <string>

namespace gprofml::app {

/// A result that could not be written. `what()` is one line: where, why.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Writes `text` to standard output, or to the file `path` when that is not empty. A file appears
/// under its name only when it is complete and replaces what was there; devices and pipes are
/// written to directly. Throws OutputError.
void write_result(const std::string& text, const std::string& path);

/// A name beside `path` for a file that will be renamed to it.
std::string temporary_beside(const std::string& path);

}  // namespace gprofml::app
