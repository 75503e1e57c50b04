#include "apps/gprof-ml/split_program.hpp"

#include <cstddef>

namespace gprofml::app {
namespace {

/// The option that `argument` names, nullptr when there is none, and whether its value is in the
/// same argument: --output=FILE, -oFILE.
struct NamedOption {
  const CLI::Option* option = nullptr;
  bool has_value = false;
};

NamedOption option_of(const std::string& argument, const CLI::App& command) {
  const bool is_long = argument.rfind("--", 0) == 0;
  const std::string name = is_long ? argument.substr(0, argument.find('=')) : argument.substr(0, 2);
  return {command.get_option_no_throw(name), name.size() < argument.size()};
}

/// Index of the first argument that is not ours.
std::size_t program_index(const std::vector<std::string>& arguments, const CLI::App& command) {
  std::size_t i = 0;
  while (i < arguments.size()) {
    const std::string& argument = arguments[i];
    if (argument == "--" || argument.size() < 2 || argument[0] != '-') return i;
    const NamedOption named = option_of(argument, command);
    const bool takes_next =
        named.option != nullptr && named.option->get_items_expected_max() > 0 && !named.has_value;
    i += takes_next ? 2 : 1;
  }
  return arguments.size();
}

}  // namespace

std::vector<std::string> split_program(std::vector<std::string>& arguments,
                                       const CLI::App& command) {
  const auto start =
      arguments.begin() + static_cast<std::ptrdiff_t>(program_index(arguments, command));
  std::vector<std::string> program(start, arguments.end());
  arguments.erase(start, arguments.end());
  if (!program.empty() && program.front() == "--") program.erase(program.begin());
  return program;
}

}  // namespace gprofml::app
