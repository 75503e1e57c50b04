// gprof-ml merge: the recordings of a job's ranks into one run.db.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/load.hpp"
#include "apps/gprof-ml/message.hpp"
#include "apps/gprof-ml/not_empty.hpp"
#include "apps/gprof-ml/output.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libprofile/capture/join_recordings.hpp"
#include "libprofile/store/store.hpp"

namespace gprofml::app {
namespace {

namespace fs = std::filesystem;

struct MergeArguments {
  std::vector<std::string> inputs;
  std::string output;
  bool force = false;
};

/// Asked before the inputs are read: nobody should wait for a refusal.
void check_output(const MergeArguments& arguments) {
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

/// A recording twice would be counted twice.
void check_inputs(const MergeArguments& arguments) {
  std::error_code ignored;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    for (std::size_t other = 0; other < i; ++other) {
      if (fs::equivalent(arguments.inputs[i], arguments.inputs[other], ignored)) {
        throw OutputError(arguments.inputs[i] + ": is named twice; name each recording once");
      }
    }
  }
}

std::vector<profile::NamedTrace> load_all(const MergeArguments& arguments) {
  std::vector<profile::NamedTrace> recordings;
  for (const std::string& input : arguments.inputs) {
    LoadedTrace loaded = load_trace(input, {});
    if (!loaded.is_recording) {
      throw OutputError(input +
                        ": is no recording of gprof-ml; gprof-ml import joins other traces");
    }
    recordings.push_back({input, std::move(loaded.trace)});
  }
  return recordings;
}

/// The file appears under its name only when it is complete.
void write_output(const profile::Trace& trace, const MergeArguments& arguments) {
  const std::string temporary = temporary_beside(arguments.output);
  try {
    profile::write_run_db(trace, temporary);
    if (!arguments.force) check_output(arguments);  // somebody may have made it meanwhile
    fs::rename(temporary, arguments.output);
  } catch (...) {
    std::remove(temporary.c_str());
    throw;
  }
}

int merge(const MergeArguments& arguments) {
  check_output(arguments);
  check_inputs(arguments);
  const profile::JoinedRecordings joined = profile::join_recordings(load_all(arguments));
  for (const std::string& warning : joined.warnings) print_message("warning: " + warning);
  write_output(joined.trace, arguments);
  const auto count = [](std::size_t n, const char* one, const char* many) {
    return fmt::format("{} {}", analysis::count_text(static_cast<std::int64_t>(n)),
                       n == 1 ? one : many);
  };
  const profile::Trace& trace = joined.trace;
  print_message(fmt::format("wrote {}: {}, {}, {}, {}", arguments.output,
                            count(trace.processes.size(), "process", "processes"),
                            count(trace.devices.size(), "GPU", "GPUs"),
                            count(trace.kernels.size(), "kernel", "kernels"),
                            count(trace.ranges.size(), "range", "ranges")));
  return kDone;
}

}  // namespace

void add_merge(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<MergeArguments>();
  CLI::App* const command =
      cli.add_subcommand("merge", "Join the recordings of a job's ranks into one run.db");
  command->footer(
      "Each INPUT is a run.db of one rank, or of one node. GPUs with the same UUID become one.\n"
      "It warns when the inputs do not look like one run, and joins them all the same.\n"
      "Example: mpirun -n 8 gprof-ml run -- ./train; gprof-ml merge run.?.db -o run.db");
  command->add_option("INPUT", arguments->inputs, "Recordings to join")
      ->required()
      ->type_name("FILE");
  command->add_option("-o,--output", arguments->output, "run.db to write")
      ->required()
      ->check(not_empty())
      ->type_name("FILE");
  command->add_flag("--force", arguments->force, "Replace the output if it exists");
  command->callback([arguments, &action] { action = [arguments] { return merge(*arguments); }; });
}

}  // namespace gprofml::app
