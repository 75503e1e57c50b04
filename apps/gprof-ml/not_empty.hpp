// A check of the command line that CLI11 does not bring.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gprofml::app {

/// Refuses an empty value, as a script with an unset variable passes it.
inline CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& value) { return value.empty() ? std::string("is empty") : ""; }, "");
}

}  // namespace gprofml::app
