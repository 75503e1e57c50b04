// gprof-ml import: foreign traces into one run.db.
#include "libprofile/import/import.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/load.hpp"
#include "apps/gprof-ml/message.hpp"
#include "apps/gprof-ml/output.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libprofile/store/store.hpp"

namespace gprofml::app {
namespace {

namespace fs = std::filesystem;

struct ImportArguments {
  std::vector<std::string> inputs;
  std::string output;
  bool force = false;
  profile::ImportOptions import;
};

/// Asked before the inputs are read: nobody should wait for a refusal.
void check_output(const ImportArguments& arguments) {
  std::error_code ignored;
  const fs::file_status status = fs::status(arguments.output, ignored);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status)) {
    throw OutputError(arguments.output + ": is no regular file; name a new file with -o");
  }
  if (!arguments.force) {
    throw OutputError(arguments.output + ": exists; name another file, or replace it with --force");
  }
  for (const std::string& input : arguments.inputs) {
    if (fs::equivalent(input, arguments.output, ignored)) {
      throw OutputError(arguments.output + ": is an input too; name another file with -o");
    }
  }
}

profile::Trace load_all(const ImportArguments& arguments) {
  profile::Trace trace = load_trace(arguments.inputs.front(), arguments.import).trace;
  if (arguments.inputs.size() == 1) return trace;
  for (std::size_t i = 1; i < arguments.inputs.size(); ++i) {
    profile::append(trace, load_trace(arguments.inputs[i], arguments.import).trace);
  }
  profile::canonicalise(trace);
  return trace;
}

/// The store never replaces a file, so a replacement is written beside and renamed.
void write_output(const profile::Trace& trace, const ImportArguments& arguments) {
  if (!arguments.force) return profile::write_run_db(trace, arguments.output);
  const std::string temporary = temporary_beside(arguments.output);
  try {
    profile::write_run_db(trace, temporary);
    fs::rename(temporary, arguments.output);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

void report_done(const profile::Trace& trace, const ImportArguments& arguments) {
  const auto count = [](std::size_t n) {
    return analysis::count_text(static_cast<std::int64_t>(n));
  };
  print_message(fmt::format(
      "wrote {}: {} kernels, {} copies, {} fills, {} CUDA calls, {} ranges; {} GPU(s), {} "
      "process(es)",
      arguments.output, count(trace.kernels.size()), count(trace.copies.size()),
      count(trace.fills.size()), count(trace.api_calls.size()), count(trace.ranges.size()),
      count(trace.devices.size()), count(trace.processes.size())));
}

int import_inputs(const ImportArguments& arguments) {
  check_output(arguments);
  const profile::Trace trace = load_all(arguments);
  write_output(trace, arguments);
  report_done(trace, arguments);
  return kDone;
}

}  // namespace

void add_import(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<ImportArguments>();
  CLI::App* const command =
      cli.add_subcommand("import", "Turn traces of other tools into one run.db");
  command->footer(
      "Each INPUT is a PyTorch (Kineto) or other Chrome JSON trace, .json or .json.gz, or a\n"
      "run.db; several become one run.db, each with its own processes. GPUs with the same UUID\n"
      "become one.\n"
      "Example: gprof-ml import trace.json.gz -o run.db");
  command->add_option("INPUT", arguments->inputs, "Traces to import")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", arguments->output, "run.db to write")
      ->required()
      ->type_name("FILE");
  command->add_flag("--force", arguments->force, "Replace the output if it exists");
  command
      ->add_option("--threads", arguments->import.threads,
                   "Threads that read the input; the result does not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--keep-partial", arguments->import.keep_partial,
                    "Use what a truncated file still holds instead of refusing it");
  command->callback(
      [arguments, &action] { action = [arguments] { return import_inputs(*arguments); }; });
}

}  // namespace gprofml::app
