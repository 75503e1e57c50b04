// gprof-ml run: starts a program, records it, leaves it alone otherwise.
//
// Until the program starts every fault ends the command (exit code 2, or 127 when the program
// cannot be executed). From then on the program comes first: whatever fails here it runs on, and
// the exit code is its own.
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/gprof-ml/analyze.hpp"
#include "apps/gprof-ml/cannot_follow.hpp"
#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/end_as_program.hpp"
#include "apps/gprof-ml/finish_recording.hpp"
#include "apps/gprof-ml/follow.hpp"
#include "apps/gprof-ml/interruptible.hpp"
#include "apps/gprof-ml/measure_overhead.hpp"
#include "apps/gprof-ml/message.hpp"
#include "apps/gprof-ml/not_empty.hpp"
#include "apps/gprof-ml/output.hpp"
#include "apps/gprof-ml/record_flags.hpp"
#include "apps/gprof-ml/run_output.hpp"
#include "apps/gprof-ml/run_windows.hpp"
#include "apps/gprof-ml/split_program.hpp"
#include "apps/gprof-ml/summary.hpp"
#include "apps/gprof-ml/wait_flag.hpp"
#include "apps/gprof-ml/window_flags.hpp"
#include "libanalysis/report/wrap.hpp"
#include "libprofile/capture/control_file.hpp"
#include "libprofile/capture/environment.hpp"
#include "libprofile/capture/launch.hpp"
#include "libprofile/capture/machine/sampler.hpp"
#include "libprofile/capture/output_metrics.hpp"
#include "libprofile/capture/output_name.hpp"
#include "libprofile/capture/output_tap.hpp"
#include "libprofile/capture/perf_maps.hpp"
#include "libprofile/capture/recording.hpp"
#include "libprofile/capture/registry.hpp"
#include "libprofile/capture/size_limit.hpp"
#include "libprofile/capture/spool_folder.hpp"

namespace gprofml::app {
namespace {

struct RunArguments {
  std::vector<std::string> command;
  std::string output;
  profile::RecordOptions recording;
  std::string on_window;
  bool force = false;
  bool require_data = false;
  bool analyze = false;
  bool keep_spool = false;
  bool quiet = false;
  unsigned measured_pairs = 0;  ///< 0: one run, recorded
  profile::Patience wait;
  std::vector<profile::MetricPattern> metrics;
  std::string follow;  ///< an earlier run.db; empty: none
  std::map<std::string, std::string> follow_meta;
};

/// Everything about the recording that is decided before the program starts.
struct Preparation {
  RunOutput output;
  profile::Manifest manifest;
  std::string spools;  ///< empty: not recorded
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> measured;  ///< --measure-overhead: more of `meta`
  std::optional<std::uint64_t> windows_made;    ///< as of WindowWatch
};

profile::Manifest manifest_for(const RunArguments& arguments, const RunOutput& output, pid_t pid) {
  profile::Manifest manifest;
  manifest.tool_version = GPROFML_VERSION;
  manifest.command = arguments.command;
  if (arguments.recording.redact) manifest.command.resize(1);
  std::error_code ignored;
  manifest.working_folder = std::filesystem::current_path(ignored).string();
  manifest.host = profile::host_name();
  manifest.output = output.path;
  manifest.options = profile::options_text(arguments.recording);
  manifest.meta = profile::metric_request(arguments.metrics);
  manifest.meta.insert(arguments.follow_meta.begin(), arguments.follow_meta.end());
  manifest.keep_previous = output.existing == Existing::keep_old;
  manifest.replace_output = output.existing == Existing::replace;
  manifest.launcher_pid = ::getpid();
  manifest.program_pid = pid;
  manifest.start_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  return manifest;
}

/// Says why the program runs unrecorded, and keeps it for the run.db.
void give_up(Preparation& preparation, const std::string& reason) {
  preparation.manifest.problems.push_back({"not_recording", reason});
  preparation.variables.clear();
  print_message("not recording: " + reason + "; the program runs all the same");
}

void prepare_environment(Preparation& preparation, const std::string& library) {
  profile::RecordingEnvironment environment = profile::recording_environment(
      library, preparation.spools, [](const char* name) { return std::getenv(name); });
  preparation.variables = std::move(environment.variables);
  if (!preparation.variables.empty()) {
    preparation.variables[spool::kOptionsVariable] = preparation.manifest.options;
  }
  for (profile::RecordingProblem& problem : environment.problems) {
    print_message(problem.detail);
    preparation.manifest.problems.push_back(std::move(problem));
  }
}

void prepare_folder(Preparation& preparation) {
  const profile::SpoolFolder folder = profile::make_spool_folder(preparation.output.path);
  preparation.spools = folder.path;
  if (folder.path.empty()) {
    give_up(preparation, "no folder for what is recorded can be made, neither beside " +
                             preparation.output.shown + " nor for temporary files (" +
                             folder.reason + ")");
  } else if (!folder.beside) {
    print_message(fmt::format("what is recorded goes to {}: no folder can be made beside {} ({})",
                              folder.path, preparation.output.shown, folder.reason));
  }
}

/// What is started here goes into our run.db and not into that of a recording we run in, which
/// would look as if the program had used nothing.
void tell_outer_recording(const RunOutput& output) {
  const char* const outer = std::getenv("GPROFML_SPOOL_DIR");
  if (outer == nullptr || *outer == '\0') return;
  profile::add_problem(
      {"nested_recording",
       "a `gprof-ml run` inside this one recorded what it started into a run.db of "
       "its own, " +
           output.path},
      outer);
}

Preparation prepare(const RunArguments& arguments, pid_t pid) {
  Preparation preparation;
  preparation.output = run_output(arguments.output, arguments.force, pid);
  check_run_output(preparation.output);
  preparation.manifest = manifest_for(arguments, preparation.output, pid);
  const profile::InjectionLibrary library = profile::find_injection_library();
  if (library.path.empty()) {
    give_up(preparation, library.reason);
    return preparation;
  }
  prepare_folder(preparation);
  if (preparation.spools.empty()) return preparation;
  prepare_environment(preparation, library.path);
  if (arguments.recording.python && !preparation.variables.empty()) {
    preparation.variables[profile::kPythonPerfVariable] = "1";
  }
  if (!profile::write_manifest(preparation.manifest, preparation.spools)) {
    const std::string reason = std::strerror(errno);
    profile::remove_spool_folder(preparation.spools);
    give_up(preparation, preparation.spools + " cannot be written to (" + reason + ")");
    preparation.spools.clear();
    return preparation;
  }
  if (!profile::ControlFile(preparation.spools).make()) {
    print_message(
        fmt::format("{}: no control file can be made ({}): gprof-ml control will not work",
                    preparation.spools, std::strerror(errno)));
  }
  tell_outer_recording(preparation.output);
  return preparation;
}

int cannot_start(const RunArguments& arguments, const Preparation& preparation, int reason) {
  if (!preparation.spools.empty()) profile::remove_spool_folder(preparation.spools);
  print_message(fmt::format("{}: cannot be started: {}", arguments.command.front(),
                            reason == ENOENT ? "no such program" : std::strerror(reason)));
  return kNotStarted;
}

/// The spool folder's name when it stays, else empty.
std::string dispose_of_spools(const RunArguments& arguments, const std::string& folder,
                              const profile::Recording& recording) {
  if (folder.empty()) return {};
  if (arguments.keep_spool || spools_hold_more(recording)) return folder;
  if (profile::remove_spool_folder(folder)) return {};
  return folder;
}

void print_summary(const RunArguments& arguments, std::int64_t pid, const profile::ProgramEnd& end,
                   const SummaryInput& input) {
  if (arguments.quiet) {
    if (has_no_records(input.recording->trace)) {
      print_message("nothing was recorded: " + reason_for_nothing(input.recording->trace));
    }
    return;
  }
  print_message(end_sentence(program_that_ran(arguments.command, *input.recording, pid), end));
  std::fputs(summary_lines(input).c_str(), stderr);
}

/// Whether `recover` would refuse the output as well: somebody else made it meanwhile.
bool in_the_way(const RunOutput& output) {
  std::error_code ignored;
  return output.existing == Existing::refuse &&
         std::filesystem::exists(std::filesystem::symlink_status(output.path, ignored));
}

void say_kept(const Preparation& preparation, const std::string& why) {
  std::string text = why;
  if (!preparation.spools.empty() && !profile::is_spool_folder(preparation.spools)) {
    text += "; what was recorded was removed while the program ran";
  } else if (!preparation.spools.empty()) {
    text += "; what was recorded is kept: " + recover_command(preparation.spools, false);
    if (in_the_way(preparation.output)) text += " -o FILE";
  }
  print_message(text);
}

/// Returns whether there is a run.db with something in it.
bool finish(const RunArguments& arguments, const Preparation& preparation,
            const profile::ProgramEnd& end) {
  profile::keep_perf_maps(preparation.spools, preparation.manifest.start_ns);
  FinishRequest request{preparation.spools, preparation.manifest, preparation.output, end,
                        !arguments.quiet,   preparation.measured};
  if (const auto now = profile::read_manifest(preparation.spools)) {
    request.manifest.problems =
        now->problems;  // a recording inside this one may have added its own
  }
  const FinishedRecording finished = finish_recording(request);
  SummaryInput summary;
  summary.recording = &finished.recording;
  summary.output = preparation.output.shown;
  summary.written = finished.written;
  summary.merge_ns = finished.merge_ns;
  // What stands at an output that may not be replaced is what was written here just now. An output
  // of the default name is kept as *.old, so there nothing needs to be forced.
  summary.recover =
      recover_command(preparation.spools, preparation.output.existing == Existing::refuse);
  summary.spools = dispose_of_spools(arguments, preparation.spools, finished.recording);
  print_summary(arguments, preparation.manifest.program_pid, end, summary);
  // Windows that closed too late for a run.db of their own.
  if (preparation.windows_made &&
      finished.recording.trace.windows.size() > *preparation.windows_made) {
    run_window_command(arguments.on_window, preparation.output);
  }
  return !has_no_records(finished.recording.trace);
}

/// Processes that outlive the program may go on recording for a while.
void wait_for_others(const RunArguments& arguments, const Preparation& preparation) {
  if (preparation.spools.empty()) return;
  const auto say = [&](std::size_t processes) {
    if (arguments.quiet) return;
    print_message(
        fmt::format("the program has ended; {} of its processes still record{} and {} "
                    "waited for (Ctrl-C: no longer)",
                    processes, processes == 1 ? "s" : "", processes == 1 ? "is" : "are"));
  };
  profile::wait_for_writers(preparation.spools, arguments.wait, say,
                            [] { return Interruptible::asked_to_stop(); });
}

/// Nothing that goes wrong from here on may hide how the program ended. Returns as `finish` does.
bool finish_whatever_happens(const RunArguments& arguments, const Preparation& preparation,
                             const profile::ProgramEnd& end) {
  std::string why;
  try {
    return finish(arguments, preparation, end);
  } catch (const std::bad_alloc&) {
    why = "out of memory while the run.db was written";
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (!arguments.quiet) print_message(end_sentence(arguments.command.front(), end));
  say_kept(preparation, why);
  return false;
}

void go_on_to_report(const std::string& run_db) {
  try {
    print_report(run_db);
  } catch (const std::exception& error) {
    print_message(error.what());
  }
}

/// What may end the program must not cost what it did until now. The flush's number.
std::optional<std::uint32_t> flush_spools(const std::string& folder) {
  constexpr profile::Nanoseconds kFlushPatienceNs = 500'000'000;
  const profile::ControlFile control(folder);
  const auto generation = control.ask_for_flush();
  if (!generation) return std::nullopt;
  profile::await_recorders(control, kFlushPatienceNs, [&](const spool::ControlSlot& slot) {
    return slot.flush_generation == *generation;
  });
  return generation;
}

void tap_output(profile::OutputTap& tap) {
  const std::string why = tap.open();
  if (!why.empty()) print_message("--metric: the program's output cannot be read: " + why);
}

/// A program that has run recorded; its run.db is not made yet.
struct Ran {
  Preparation preparation;
  std::optional<int> not_started;  ///< the exit code to end with
  profile::ProgramEnd end;
};

/// Runs the program and records it.
Ran run_recorded(const RunArguments& arguments) {
  Ran ran;
  std::optional<profile::Sampler> sampler;
  std::optional<Interruptible> interruptible;
  Preparation& preparation = ran.preparation;
  profile::OutputTap tap;
  {
    const profile::SignalRelay relay;
    if (!arguments.metrics.empty()) tap_output(tap);
    profile::Program program(arguments.command, relay, tap.replacements());
    tap.handed_over();
    ::signal(SIGXFSZ, SIG_IGN);  // behind the fork: what the program inherits is not ours to change
    preparation = prepare(arguments, program.pid());
    tap.keep_in(preparation.spools);
    const std::string not_followed = cannot_follow(arguments.command);
    if (!not_followed.empty()) print_message(not_followed);
    const int reason = program.start(preparation.variables);
    if (reason != 0) {
      ran.not_started = cannot_start(arguments, preparation, reason);
      return ran;
    }
    if (!preparation.spools.empty()) {
      sampler.emplace(profile::SamplerOptions{preparation.spools, preparation.manifest.host});
    }
    profile::SizeLimit size_limit(preparation.spools, arguments.recording.most_bytes);
    const profile::Registered registered(preparation.spools);
    WindowWatch windows(preparation.spools, preparation.manifest, preparation.output,
                        arguments.recording.has_windows(), arguments.on_window, arguments.quiet,
                        arguments.recording.keep_last_ns > 0);
    profile::WaitHooks hooks;
    hooks.tick = [&] {
      size_limit.look();
      windows.look();
    };
    hooks.on_signal = [&](int, bool) {
      if (const auto flush = flush_spools(preparation.spools)) windows.ignore_flush(*flush);
    };
    ran.end = program.wait(hooks);
    if (windows.finish()) preparation.output.existing = Existing::replace;
    preparation.windows_made = windows.windows_made();
    interruptible.emplace();
  }
  tap.drain(Interruptible::asked_to_stop);
  wait_for_others(arguments, preparation);
  tap.drain(Interruptible::asked_to_stop);  // they may have written, too
  tap.stop_keeping();
  if (sampler) sampler->stop();
  return ran;
}

/// Runs it with and without recording; `ran` becomes the last recorded run, the spools of those
/// before it are thrown away.
MeasuredOverhead measure(const RunArguments& arguments, std::optional<Ran>& ran) {
  return measure_overhead(arguments.command, arguments.measured_pairs,
                          [&]() -> std::optional<profile::ProgramEnd> {
                            if (ran && !ran->preparation.spools.empty()) {
                              profile::remove_spool_folder(ran->preparation.spools);
                            }
                            ran = run_recorded(arguments);
                            if (ran->not_started) return std::nullopt;
                            return ran->end;
                          });
}

/// Its mistakes in the parser's form.
profile::MetricPattern metric_of(const std::string& text) {
  try {
    return profile::metric_pattern(text);
  } catch (const profile::CaptureError& error) {
    throw CLI::ValidationError(error.what());
  }
}

/// Sets what is to be recorded by what an earlier run left open.
void apply_follow(RunArguments& arguments, bool how_much_is_given) {
  if (arguments.follow.empty()) return;
  Follow followed = follow(arguments.follow, arguments.recording, how_much_is_given);
  arguments.recording = std::move(followed.options);
  arguments.follow_meta = std::move(followed.meta);
  if (arguments.quiet) return;
  for (const std::string& line : followed.lines) print_message(line);
}

int run_program(const RunArguments& arguments) {
  check_output_name(arguments.output);  // its mistakes need no process to be seen
  std::optional<Ran> ran;
  std::optional<MeasuredOverhead> measured;
  if (arguments.measured_pairs > 0) {
    measured = measure(arguments, ran);
    if (ran) ran->preparation.measured = overhead_meta(*measured);
  }
  if (!ran) ran = run_recorded(arguments);
  if (ran->not_started) return *ran->not_started;
  std::optional<Interruptible> interruptible(
      std::in_place);          // who had enough of waiting still gets the run.db
  ::signal(SIGPIPE, SIG_IGN);  // a reader of the summary that goes away changes no exit code
  const bool recorded = finish_whatever_happens(arguments, ran->preparation, ran->end);
  if (measured) {
    std::fputs(analysis::wrap(overhead_text(*measured), "  overhead  ", 12).c_str(), stderr);
  }
  if (recorded && arguments.analyze) go_on_to_report(ran->preparation.output.shown);
  if (arguments.require_data && !recorded && ran->end.code() == 0) return kNoRecords;
  interruptible.reset();
  end_as_program(ran->end);
  return ran->end.code();
}

}  // namespace

void add_run(CLI::App& cli, Action& action, std::vector<std::string>& arguments_left) {
  const auto arguments = std::make_shared<RunArguments>();
  CLI::App* const command = cli.add_subcommand("run", "Record a program while it runs");
  command->footer(
      "Everything behind PROGRAM belongs to it. Its output, its signals and its exit code are its\n"
      "own; a summary on standard error says what was recorded.\n"
      "Exit code: the program's; 128 and the signal that killed it; 127 when it could not be\n"
      "started; 2 for bad usage; 3 with --require-data when nothing was recorded although the\n"
      "program exited 0. When SIGINT or SIGQUIT killed the program, gprof-ml dies of it too.\n"
      "Example: gprof-ml run -o train-%p.db -- python3 train.py --epochs 1");
  command->add_option("PROGRAM", "Program to record, looked up in PATH, and its arguments")
      ->required()
      ->type_name("[ARGS...]");
  command
      ->add_option("-o,--output", arguments->output,
                   "run.db to write; %p is the program's process id, %h the host, %r the rank "
                   "(default: run.db, under a rank's variable run.%r.db; an earlier one becomes "
                   "*.old)")
      ->check(not_empty())
      ->type_name("FILE");
  command->add_flag("--force", arguments->force, "Replace the output if it exists");
  command->add_flag("--analyze", arguments->analyze, "Print the report when the program has ended");
  command->add_flag("--require-data", arguments->require_data,
                    "Exit with 3 when nothing was recorded");
  command->add_flag("--keep-spool", arguments->keep_spool,
                    "Keep the folder of raw records that the run.db is made from");
  command->add_flag("--quiet", arguments->quiet, "No summary; only what went wrong");
  command->add_flag(
      "--measure-overhead{5}", arguments->measured_pairs,
      "Run the program several times without and with recording in turns (5 pairs, or "
      "--measure-overhead=N), and say how much slower it is recorded; the last recorded "
      "run is kept");
  command
      ->add_option_function<std::string>(
          "--wait", [arguments](const std::string& text) { arguments->wait = patience_of(text); },
          "How long processes that outlive the program are recorded (default: 1 second)")
      ->type_name("SECONDS|all|none");
  command
      ->add_option_function<std::vector<std::string>>(
          "--metric",
          [arguments](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              arguments->metrics.push_back(metric_of(text));
            }
          },
          "Read a figure from the program's output: the first group, or all, of the last match; "
          "can be given several times")
      ->take_all()
      ->expected(1)
      ->type_name("NAME=REGEX");
  command
      ->add_option("--follow", arguments->follow,
                   "Record what the report on this earlier run.db left open, for a few occurrences "
                   "of its main range; other options go before that plan")
      ->check(not_empty())
      ->type_name("RUN.DB");
  add_record_flags(*command, arguments->recording);
  add_window_flags(*command, arguments->recording);
  command
      ->add_option("--on-window", arguments->on_window,
                   "Run this when a window's data is complete; {db} is its run.db")
      ->check(not_empty())
      ->type_name("COMMAND");
  if (!arguments_left.empty() && arguments_left.front() == "run") {
    std::vector<std::string> own(arguments_left.begin() + 1, arguments_left.end());
    arguments->command = split_program(own, *command);
    // The parser sees one word for it, so that its own check for a missing program stays.
    if (!arguments->command.empty()) own.emplace_back("PROGRAM");
    own.insert(own.begin(), "run");
    arguments_left = std::move(own);
  }
  command->callback(
      [arguments, command, &action] {
        const bool how_much_is_given = command->count("--level") + command->count("--kinds") > 0;
        action = [arguments, how_much_is_given] {
          apply_follow(*arguments, how_much_is_given);
          return run_program(*arguments);
        };
      });
}

}  // namespace gprofml::app
