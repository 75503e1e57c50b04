// For benches that run whole commands and read figures from what those print.
#pragma once

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace gprofml::bench {

/// What a shell command prints on standard output. Throws std::runtime_error when it fails.
inline std::string output_of(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  char part[256];
  while (std::fgets(part, sizeof part, pipe) != nullptr) output += part;
  if (pclose(pipe) != 0) throw std::runtime_error(command + " failed");
  return output;
}

/// The number behind the last `name`= of an output. Throws std::runtime_error without one.
inline double figure_in(const std::string& output, const std::string& name) {
  const std::size_t at = output.rfind(name + "=");
  if (at == std::string::npos) throw std::runtime_error("no " + name + " in: " + output);
  return std::stod(output.substr(at + name.size() + 1));
}

/// Of at least one value.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

}  // namespace gprofml::bench
