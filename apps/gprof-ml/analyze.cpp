// gprof-ml analyze: where the time went, as text or JSON.
#include "libanalysis/analyze.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "apps/gprof-ml/analyze.hpp"
#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/load.hpp"
#include "apps/gprof-ml/message.hpp"
#include "apps/gprof-ml/not_empty.hpp"
#include "apps/gprof-ml/output.hpp"
#include "apps/gprof-ml/summary.hpp"
#include "libanalysis/report/json.hpp"
#include "libanalysis/report/text.hpp"
#include "libprofile/capture/recording.hpp"

namespace gprofml::app {
namespace {

struct AnalyzeArguments {
  std::string input;
  std::string format = "text";
  std::string output;
  int top = 10;
  std::string window = "auto";
  std::string range;
  bool path = false;
  analysis::ServingNames serving;
  profile::ImportOptions import;
};

analysis::WindowRequest window_request(const AnalyzeArguments& arguments) {
  using Kind = analysis::WindowRequest::Kind;
  if (arguments.window == "steps") return {Kind::steps, arguments.range};
  if (!arguments.range.empty()) return {Kind::range, arguments.range};
  if (arguments.window == "all") return {Kind::all, {}};
  return {Kind::automatic, {}};
}

/// Bold headings only where a person looks and did not ask for none (no-color.org).
bool wants_color(const AnalyzeArguments& arguments) {
  if (!arguments.output.empty() || ::isatty(STDOUT_FILENO) == 0) return false;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

std::string render(const analysis::Report& report, const AnalyzeArguments& arguments,
                   bool is_run_db) {
  if (arguments.format == "json") {
    analysis::JsonOptions options;
    options.path = arguments.path;
    options.tool_version = GPROFML_VERSION;
    return analysis::render_json(report, options);
  }
  analysis::TextOptions options;
  options.top = arguments.top;
  options.path = arguments.path;
  options.color = wants_color(arguments);
  options.is_run_db = is_run_db;
  options.tool_version = GPROFML_VERSION;
  return analysis::render_text(report, options);
}

/// The report must not take the place of what it reports on.
void require_output_apart(const AnalyzeArguments& arguments) {
  std::error_code ignored;
  if (std::filesystem::equivalent(arguments.input, arguments.output, ignored)) {
    throw OutputError(arguments.output + ": is the input; name another file with -o");
  }
}

/// Says which input a question could not be put to.
analysis::Report analyze_loaded(const profile::Trace& trace,
                                const analysis::AnalyzeOptions& options) {
  try {
    return analysis::analyze(trace, options);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(options.source + ": " + error.what());
  }
}

int analyze_input(const AnalyzeArguments& arguments) {
  if (arguments.window == "all" && !arguments.range.empty()) {
    throw std::invalid_argument("--range and --window all exclude each other");
  }
  require_output_apart(arguments);
  const LoadedTrace loaded = load_trace(arguments.input, arguments.import);
  if (loaded.is_recording && has_no_records(loaded.trace)) {
    const std::string reason = reason_for_nothing(loaded.trace);
    print_message(arguments.input + ": holds no record of any kind" +
                  (reason.empty() ? ", nothing to analyze" : ": " + reason));
    return kNoRecords;
  }
  analysis::AnalyzeOptions options;
  options.window = window_request(arguments);
  options.source = arguments.input;
  options.path = arguments.path;
  options.serving = arguments.serving;
  const analysis::Report report = analyze_loaded(loaded.trace, options);
  write_result(render(report, arguments, loaded.is_run_db), arguments.output);
  return kDone;
}

}  // namespace

int print_report(const std::string& path) {
  AnalyzeArguments arguments;
  arguments.input = path;
  return analyze_input(arguments);
}

void add_analyze(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<AnalyzeArguments>();
  CLI::App* const command = cli.add_subcommand("analyze", "Say where the time went and why");
  command->footer(
      "INPUT is a run.db, the spool folder of a recording (also while it runs), or a PyTorch\n"
      "(Kineto) or other Chrome JSON trace, .json or .json.gz.\n"
      "The text report shows the most important; the JSON has everything, in nanoseconds\n"
      "(docs/report.schema.json says what each key means).\n"
      "Example: gprof-ml analyze run.db");
  command->add_option("INPUT", arguments->input, "Trace to analyze")->required()->type_name("FILE");
  command->add_option("--format", arguments->format, "text for people, json for programs")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments->output,
                   "Write to FILE instead of standard output, replacing it")
      ->type_name("FILE");
  command->add_option("--top", arguments->top, "Rows of the kernel and op tables of the text")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--threads", arguments->import.threads,
                   "Threads that read the input; the result does not depend on it")
      ->check(CLI::Range(1, 256))
      ->capture_default_str()
      ->type_name("N");
  command
      ->add_option("--window", arguments->window,
                   "all: everything; steps: the steady steps; auto: steps where they are "
                   "certain, else all")
      ->check(CLI::IsMember({"auto", "all", "steps"}))
      ->capture_default_str();
  command
      ->add_option("--range", arguments->range,
                   "Only this named range; #k chooses the k-th of that name, from 0. With --window "
                   "steps: the range that marks a step")
      ->type_name("NAME[#k]");
  const auto add_name = [command](const char* option, std::string& name, const char* what) {
    command->add_option(option, name, what)->check(not_empty())->capture_default_str()->type_name("NAME");
  };
  add_name("--request-range", arguments->serving.request, "Name of the ranges that are a request");
  add_name("--prefill-range", arguments->serving.prefill, "Name of the ranges that are its prefill");
  add_name("--token-range", arguments->serving.token,
           "Name of the ranges that are a token each: TTFT and TPOT are their ends");
  command->add_flag("--path", arguments->path, "List every segment of the critical path");
  command->add_flag("--keep-partial", arguments->import.keep_partial,
                    "Use what a truncated file still holds instead of refusing it");
  command->callback(
      [arguments, &action] { action = [arguments] { return analyze_input(*arguments); }; });
}

}  // namespace gprofml::app
