#include "apps/gprof-ml/record_flags.hpp"

#include <string>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/parse_quantity.hpp"

namespace gprofml::app {
namespace {

/// The list's mistakes in the parser's form, which names the option by itself.
std::uint32_t kinds_of(const std::string& list) {
  try {
    return profile::groups_named(list);
  } catch (const profile::CaptureError& error) {
    throw CLI::ValidationError(error.what());
  }
}

std::uint64_t size_of(const std::string& text) {
  const auto bytes = profile::parse_size(text);
  if (!bytes)
    throw CLI::ValidationError("--max-size: takes a size such as 500MB or 4GiB, not " + text);
  return *bytes;
}

std::uint32_t budget_of(const std::string& text) {
  const auto ppm = profile::parse_share_ppm(text);
  if (!ppm || *ppm == 0) {
    throw CLI::ValidationError("--overhead-budget: takes a share of wall time such as 3%, not " +
                               text);
  }
  return *ppm;
}

}  // namespace

void add_record_flags(CLI::App& command, profile::RecordOptions& options) {
  command
      .add_option("--level", options.level,
                  "How much is recorded: 0 steps and whole graphs, 1 all GPU work and the calls "
                  "that matter (default), 2 all calls and memory too, 3 call stacks too")
      ->check(CLI::Range(std::uint32_t{0}, spool::kHighestLevel).description(""))
      ->type_name("0..3");
  command
      .add_option_function<std::string>(
          "--kinds", [&options](const std::string& list) { options.groups = kinds_of(list); },
          "Record these in place of a level's: " + profile::group_names(~std::uint32_t{0}))
      ->type_name("LIST");
  command
      .add_option_function<std::string>(
          "--graphs",
          [&options](const std::string& view) { options.whole_graphs = view == "whole"; },
          "CUDA graphs node by node, or each launch as a whole, which costs less")
      ->check(CLI::IsMember({"nodes", "whole"}).description(""))
      ->type_name("nodes|whole");
  command
      .add_option_function<std::string>(
          "--max-size", [&options](const std::string& text) { options.most_bytes = size_of(text); },
          "Stop recording, not the program, when the raw records take so much (default: 4GiB; 0: "
          "no limit)")
      ->type_name("SIZE");
  command
      .add_option_function<std::string>(
          "--overhead-budget",
          [&options](const std::string& text) { options.budget_ppm = budget_of(text); },
          "Hold the accounted cost of recording to this share of wall time: gives up call stacks, "
          "then memory events, then records in windows (default: off)")
      ->type_name("SHARE");
  command.add_flag("--python", options.python,
                   "Python functions (Python >= 3.12) in the call stacks of --level 3");
  command.add_flag("--redact", options.redact,
                   "Keep the program's name of its command line, and not its arguments");
}

}  // namespace gprofml::app
