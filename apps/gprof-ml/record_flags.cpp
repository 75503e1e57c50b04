#include "apps/gprof-ml/record_flags.hpp"

#include <string>

#include "libprofile/capture/merge.hpp"

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

}  // namespace

void add_record_flags(CLI::App& command, profile::RecordOptions& options) {
  command
      .add_option("--level", options.level,
                  "How much is recorded: 0 steps and whole graphs, 1 all GPU work and the calls "
                  "that matter (default), 2 all calls and memory too, 3 call stacks too")
      ->check(CLI::Range(std::uint32_t{0}, spool::kHighestLevel))
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
      ->check(CLI::IsMember({"nodes", "whole"}))
      ->type_name("nodes|whole");
}

}  // namespace gprofml::app
