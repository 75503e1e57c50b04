// gprof-ml env: how a program that gprof-ml cannot start itself is recorded.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/message.hpp"
#include "apps/gprof-ml/not_empty.hpp"
#include "apps/gprof-ml/output.hpp"
#include "apps/gprof-ml/record_flags.hpp"
#include "apps/gprof-ml/window_flags.hpp"
#include "libprofile/capture/control_file.hpp"
#include "libprofile/capture/environment.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/output_name.hpp"
#include "libprofile/capture/record_options.hpp"
#include "libprofile/capture/recording_recipe.hpp"
#include "libprofile/capture/spool_folder.hpp"

namespace gprofml::app {
namespace {

namespace fs = std::filesystem;

struct EnvArguments {
  bool docker = false;
  bool kubernetes = false;
  bool slurm = false;
  std::string folder;
  profile::RecordOptions recording;
};

profile::RecipeForm form_of(const EnvArguments& arguments) {
  if (arguments.docker) return profile::RecipeForm::docker;
  if (arguments.kubernetes) return profile::RecipeForm::kubernetes;
  return arguments.slurm ? profile::RecipeForm::slurm : profile::RecipeForm::shell;
}

/// In a container the program may be any user, who must be able to write; as in /tmp nobody can
/// then remove what is not theirs.
mode_t rights_for(profile::RecipeForm form) {
  const bool is_container =
      form == profile::RecipeForm::docker || form == profile::RecipeForm::kubernetes;
  return is_container ? 01777 : 0700;
}

/// One that the user named: made here, or a recording's already.
std::string named_folder(const std::string& name) {
  const std::string path = fs::absolute(name).lexically_normal().string();
  if (mkdir(path.c_str(), 0700) == 0) return path;
  if (errno != EEXIST) {
    throw profile::CaptureError(
        fmt::format("{}: cannot be made: {}; name another with -o", name, std::strerror(errno)));
  }
  std::error_code error;
  const bool is_empty = fs::is_directory(path, error) && fs::is_empty(path, error);
  if ((is_empty && !error) || profile::is_spool_folder(path)) return path;
  throw profile::CaptureError(name +
                              ": is there and no folder of a recording; name another with -o");
}

std::string new_folder() {
  const profile::SpoolFolder folder = profile::make_spool_folder(profile::absolute_path("run.db"));
  if (folder.path.empty()) {
    throw profile::CaptureError("no folder can be made here nor for temporary files (" +
                                folder.reason + "); name one with -o");
  }
  return folder.path;
}

/// So that the folder is known for a recording's before the first process has written to it. One
/// that is there is left alone: several programs may record into one folder.
void write_manifest(const std::string& folder, const std::string& options) {
  if (profile::read_manifest(folder)) return;
  profile::Manifest manifest;
  manifest.tool_version = GPROFML_VERSION;
  manifest.options = options;
  manifest.host = profile::host_name();
  manifest.start_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  if (profile::write_manifest(manifest, folder)) return;
  throw profile::CaptureError(fmt::format("{}: cannot be written to: {}; name another with -o",
                                          folder, std::strerror(errno)));
}

/// So that `gprof-ml control --folder` reaches what is recorded, as whatever user it runs. Without
/// the file it records all the same.
void make_control_file(const std::string& folder, profile::RecipeForm form) {
  profile::ControlFile(folder).make();  // false where there is one already
  const std::string file = folder + "/" + spool::kControlName;
  chmod(file.c_str(), rights_for(form) == 0700 ? 0600 : 0666);
}

/// Inside a container nothing of this environment is set; elsewhere another tool may be first.
std::map<std::string, std::string> free_variables(const std::string& library,
                                                  const std::string& folder) {
  const profile::RecordingEnvironment environment = profile::recording_environment(
      library, folder, [](const char* name) { return std::getenv(name); });
  for (const profile::RecordingProblem& problem : environment.problems) {
    print_message(problem.detail);
  }
  return environment.variables;
}

int env(const EnvArguments& arguments) {
  const profile::InjectionLibrary library = profile::find_injection_library();
  if (library.path.empty()) throw profile::CaptureError(library.reason);
  const profile::RecipeForm form = form_of(arguments);
  profile::RecordingRecipe recipe;
  recipe.library = library.path;
  recipe.folder = arguments.folder.empty() ? new_folder() : named_folder(arguments.folder);
  recipe.options = profile::options_text(arguments.recording);
  write_manifest(recipe.folder, recipe.options);
  recipe.is_paused = arguments.recording.paused;
  make_control_file(recipe.folder, form);
  chmod(recipe.folder.c_str(), rights_for(form));
  if (form == profile::RecipeForm::shell || form == profile::RecipeForm::slurm) {
    recipe.variables = free_variables(recipe.library, recipe.folder);
  }
  write_result(profile::recipe_text(recipe, form), "");
  return kDone;
}

}  // namespace

void add_env(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<EnvArguments>();
  CLI::App* const command = cli.add_subcommand(
      "env", "Print how a program that gprof-ml cannot start itself is recorded");
  command->footer(
      "Makes the folder and prints what to paste: variables, in containers mounts too, and the\n"
      "command that makes a run.db of the folder afterwards.\n"
      "Example: eval \"$(gprof-ml env -o spools)\"; ./server; gprof-ml recover spools -o run.db");
  CLI::Option* const docker =
      command->add_flag("--docker", arguments->docker, "As a `docker run` (or podman) command");
  CLI::Option* const kubernetes =
      command->add_flag("--k8s", arguments->kubernetes, "As a patch of a Kubernetes deployment");
  CLI::Option* const slurm =
      command->add_flag("--slurm", arguments->slurm, "As lines of a Slurm batch script");
  docker->excludes(kubernetes)->excludes(slurm);
  kubernetes->excludes(slurm);
  command
      ->add_option("-o,--output", arguments->folder,
                   "Folder for what is recorded, made where it is not there (default: a new "
                   "run.db.spool-… here)")
      ->check(not_empty())
      ->type_name("FOLDER");
  add_record_flags(*command, arguments->recording);
  add_window_flags(*command, arguments->recording);
  command->callback([arguments, &action] { action = [arguments] { return env(*arguments); }; });
}

}  // namespace gprofml::app
