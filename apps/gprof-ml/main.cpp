// gprof-ml: the command line. Parses, runs one sub-command, turns failures into a line and a code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/message.hpp"

namespace {

using gprofml::app::Action;

int fail(const std::string& what) {
  gprofml::app::print_message(what);
  return gprofml::app::kBadUsageOrInput;
}

/// The one place where an exception of the libraries becomes a message and an exit code.
int run(const Action& action) {
  try {
    return action();
  } catch (const std::bad_alloc&) {
    return fail("out of memory; use a machine with more, or a smaller part of the trace");
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("stopped by an error of unknown kind; please report it with the input");
  }
}

/// CLI11 prints help and version itself; its errors get our form and our code.
int answer_parse_error(const CLI::App& cli, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return cli.exit(error);
  std::string help = "gprof-ml";
  for (const CLI::App* const command : cli.get_subcommands()) help += " " + command->get_name();
  return fail(std::string(error.what()) + "; see " + help + " --help");
}

/// Where files are limited in size (ulimit -f) writing shall fail with an error, not kill us. `run`
/// does so itself, once its program has inherited what we did.
void outlive_size_limits(const CLI::App& cli) {
  if (!cli.got_subcommand("run")) ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App cli{
      "Records GPU programs, and says where their time went and which chain of waits made it so "
      "long.",
      "gprof-ml"};
  cli.set_version_flag("--version", "gprof-ml " GPROFML_VERSION);
  cli.require_subcommand(1);
  cli.footer(
      "Exit codes: 0 done, 2 bad usage or input, 3 a run.db without any record. `run` ends with "
      "the\n"
      "program's own exit code (gprof-ml run --help).");
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  Action action;
  gprofml::app::add_analyze(cli, action);
  gprofml::app::add_import(cli, action);
  gprofml::app::add_merge(cli, action);
  gprofml::app::add_run(cli, action, arguments);
  gprofml::app::add_recover(cli, action);
  gprofml::app::add_control(cli, action);
  gprofml::app::add_doctor(cli, action);
  gprofml::app::add_env(cli, action);
  try {
    std::reverse(arguments.begin(), arguments.end());  // as the parser takes them
    cli.parse(arguments);
  } catch (const CLI::ParseError& error) {
    return answer_parse_error(cli, error);
  }
  outlive_size_limits(cli);
  return run(action);
}
