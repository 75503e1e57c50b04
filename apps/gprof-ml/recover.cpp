// gprof-ml recover: the run.db of a recording whose launcher died.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/finish_recording.hpp"
#include "apps/gprof-ml/message.hpp"
#include "apps/gprof-ml/not_empty.hpp"
#include "apps/gprof-ml/output.hpp"
#include "apps/gprof-ml/run_output.hpp"
#include "apps/gprof-ml/summary.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/spool_folder.hpp"

namespace gprofml::app {
namespace {

struct RecoverArguments {
  std::string folder;
  std::string output;
  bool force = false;
  bool still_running = false;
  bool remove = false;
};

/// "run.partial.db" for "run.db".
std::string partial_name(const std::string& path) {
  const std::filesystem::path name(path);
  return (name.parent_path() / (name.stem().string() + ".partial" + name.extension().string()))
      .string();
}

/// The manifest's output, unless the user names one; run.db here when there is neither. The name
/// that a living launcher will need stays free: it would not replace what we write there.
RunOutput output_of(const RecoverArguments& arguments, const profile::Manifest& manifest) {
  RunOutput output = run_output(arguments.output, arguments.force, manifest.program_pid);
  if (!arguments.output.empty() || manifest.output.empty()) return output;
  output.path = manifest.output;
  output.shown = manifest.output;
  if (manifest.replace_output || arguments.force) {
    output.existing = Existing::replace;
  } else {
    output.existing = manifest.keep_previous ? Existing::keep_old : Existing::refuse;
  }
  if (profile::launcher_lives(manifest)) {
    output.path = output.shown = partial_name(manifest.output);
    output.existing = arguments.force ? Existing::replace : Existing::keep_old;
    print_message(
        fmt::format("gprof-ml run (pid {}) still runs and will write {}; this part goes to "
                    "{}",
                    manifest.launcher_pid, manifest.output, output.shown));
  }
  return output;
}

/// "llama_infer.41207-….spool, …": who still writes.
std::string names(const std::vector<std::string>& spools) {
  constexpr std::size_t kEnough = 3;
  std::string out;
  for (std::size_t i = 0; i < spools.size() && i < kEnough; ++i) {
    out += (i == 0 ? "" : ", ") + spools[i];
  }
  if (spools.size() > kEnough) out += fmt::format(" and {} more", spools.size() - kEnough);
  return out;
}

void require_writers_gone(const RecoverArguments& arguments) {
  const std::vector<std::string> live = profile::live_spools(arguments.folder);
  if (live.empty() || arguments.still_running) return;
  throw profile::CaptureError(
      fmt::format("{}: the program still runs and writes to {}; wait for its end, or take what is "
                  "there with --still-running",
                  arguments.folder, names(live)));
}

void print_summary(const RecoverArguments& arguments, const FinishedRecording& finished,
                   const RunOutput& output) {
  SummaryInput summary;
  summary.recording = &finished.recording;
  summary.output = output.shown;
  summary.written = finished.written;
  summary.merge_ns = finished.merge_ns;
  summary.recover = recover_command(
      arguments.folder, output.existing == Existing::refuse && arguments.output.empty());
  const bool removes = arguments.remove && !spools_hold_more(finished.recording);
  if (!removes || !profile::remove_spool_folder(arguments.folder)) {
    summary.spools = arguments.folder;
  }
  print_message("recovered " + arguments.folder);
  std::fputs(summary_lines(summary).c_str(), stderr);
}

int recover(const RecoverArguments& arguments) {
  if (!profile::is_spool_folder(arguments.folder)) {
    throw profile::CaptureError(arguments.folder +
                                ": is no folder of a recording (FILE.spool-PID-…, beside the "
                                "run.db it was for)");
  }
  require_writers_gone(arguments);
  const profile::Manifest manifest =
      profile::read_manifest(arguments.folder).value_or(profile::Manifest{});
  const RunOutput output = output_of(arguments, manifest);
  check_run_output(output);
  const FinishedRecording finished =
      finish_recording({arguments.folder, manifest, output, std::nullopt, true, {}});
  print_summary(arguments, finished, output);
  return kDone;
}

}  // namespace

void add_recover(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<RecoverArguments>();
  CLI::App* const command =
      cli.add_subcommand("recover", "Make the run.db of a recording that was cut off");
  command->footer(
      "DIR is what `gprof-ml run` left beside its output when it was killed or could not write.\n"
      "It stays unless --remove is given.\n"
      "Example: gprof-ml recover run.db.spool-4711-90d2a1c07c3f5e62");
  command->add_option("DIR", arguments->folder, "Spool folder")->required()->type_name("DIR");
  command
      ->add_option(
          "-o,--output", arguments->output,
          "run.db to write (default: what `run` was to write; *.partial.db while it lives)")
      ->check(not_empty())
      ->type_name("FILE");
  command->add_flag("--force", arguments->force, "Replace the output if it exists");
  command->add_flag("--still-running", arguments->still_running,
                    "Take what is there although the program still runs");
  command->add_flag("--remove", arguments->remove, "Remove DIR once all of it is in the run.db");
  command->callback([arguments, &action] { action = [arguments] { return recover(*arguments); }; });
}

}  // namespace gprofml::app
