#include "apps/gprof-ml/cannot_follow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace gprofml::app {
namespace {

struct Starter {
  std::string_view name;
  std::string_view form;  ///< of `gprof-ml env`
};

constexpr Starter kStarters[] = {{"docker", "--docker"},
                                 {"podman", "--docker"},
                                 {"nerdctl", "--docker"},
                                 {"docker-compose", "--docker"},
                                 {"kubectl", "--k8s"}};
/// What of them starts a program; the rest (ps, logs, build …) does not concern us.
constexpr std::string_view kStarting[] = {"run", "exec",  "start", "create", "compose",
                                          "up",  "apply", "debug", "rollout"};

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// Index of the program behind sudo and env with their options and variables.
std::size_t program_index(const std::vector<std::string>& command) {
  std::size_t i = 0;
  while (i + 1 < command.size()) {
    const std::string_view name = file_name(command[i]);
    if (name != "sudo" && name != "env") break;
    ++i;
    while (i + 1 < command.size() &&
           (command[i][0] == '-' || command[i].find('=') != std::string::npos)) {
      ++i;
    }
  }
  return i;
}

bool starts_something(const std::vector<std::string>& command, std::size_t program) {
  return std::any_of(command.begin() + static_cast<std::ptrdiff_t>(program) + 1, command.end(),
                     [](const std::string& argument) {
                       return std::find(std::begin(kStarting), std::end(kStarting), argument) !=
                              std::end(kStarting);
                     });
}

/// srun hands on our variables; only with a container of its own is the folder out of reach.
bool is_srun_into_container(const std::vector<std::string>& command, std::size_t program) {
  return file_name(command[program]) == "srun" &&
         std::any_of(command.begin(), command.end(), [](const std::string& argument) {
           return argument.rfind("--container-image", 0) == 0;
         });
}

}  // namespace

std::string cannot_follow(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  const std::size_t program = program_index(command);
  const std::string_view name = file_name(command[program]);
  std::string_view form;
  for (const Starter& starter : kStarters) {
    if (starter.name == name && starts_something(command, program)) form = starter.form;
  }
  if (is_srun_into_container(command, program)) form = "--slurm";
  if (form.empty()) return {};
  return fmt::format(
      "{} starts its program in a container, where it cannot be followed; "
      "`gprof-ml env {}` prints how to record in there",
      name, form);
}

}  // namespace gprofml::app
