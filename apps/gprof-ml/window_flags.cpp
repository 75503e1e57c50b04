#include "apps/gprof-ml/window_flags.hpp"

#include <charconv>
#include <string>
#include <vector>

#include "libprofile/capture/parse_quantity.hpp"

namespace gprofml::app {
namespace {

void add_duration(CLI::App& command, const char* name, profile::Nanoseconds& into,
                  const char* description) {
  command
      .add_option_function<std::string>(
          name,
          [&into](const std::string& text) {
            const auto duration = profile::parse_duration(text);
            if (!duration || *duration <= 0) {
              throw CLI::ValidationError("\"" + text + "\" is no time such as 500ms, 30s or 2min");
            }
            into = *duration;
          },
          description)
      ->type_name("TIME");
}

/// The whole of `text` as a number; false when it is none.
template <typename Integer>
bool read_number(const std::string& text, Integer& number) {
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  return parsed.ec == std::errc() && parsed.ptr == end && !text.empty();
}

void read_range(const std::string& text, profile::RecordOptions& options) {
  options.range = text;
  const std::size_t hash = text.rfind('#');
  std::uint64_t index = 0;
  if (hash != std::string::npos && hash > 0 && read_number(text.substr(hash + 1), index)) {
    options.range = text.substr(0, hash);
    options.range_index = index;
  }
  if (options.range.empty()) throw CLI::ValidationError("a range has a name");
}

void read_steps(const std::string& text, profile::RecordOptions& options) {
  std::vector<std::uint32_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::uint32_t number = 0;
    if (!read_number(text.substr(at, comma - at), number)) numbers.clear();
    numbers.push_back(number);
    at = comma + 1;
  }
  if (numbers.size() < 3 || numbers.size() > 4 || numbers[2] == 0) {
    throw CLI::ValidationError("\"" + text +
                               "\" is not WAIT,WARMUP,ACTIVE[,REPEAT] with at least one active "
                               "step, such as 10,2,5");
  }
  profile::StepPlan plan = options.steps.value_or(profile::StepPlan{});
  plan.wait = numbers[0];
  plan.warmup = numbers[1];
  plan.active = numbers[2];
  if (numbers.size() == 4) plan.repeat = numbers[3];
  options.steps = plan;
}

}  // namespace

void add_window_flags(CLI::App& command, profile::RecordOptions& options) {
  add_duration(command, "--delay", options.delay_ns, "Record from so long after the start on");
  add_duration(command, "--duration", options.duration_ns,
               "Record for so long; of each window, where others open them");
  add_duration(command, "--keep-last", options.keep_last_ns,
               "Keep only the last so long before the end, before a kill, or before each "
               "`gprof-ml control flush`");
  CLI::Option* const range =
      command
          .add_option_function<std::string>(
              "--range", [&options](const std::string& text) { read_range(text, options); },
              "Record while an NVTX range of that name is open; the k-th alone, from 0")
          ->type_name("NAME[#k]");
  CLI::Option* const steps =
      command
          .add_option_function<std::string>(
              "--steps", [&options](const std::string& text) { read_steps(text, options); },
              "Skip WAIT and WARMUP steps, record ACTIVE ones; REPEAT times, 0: until the end")
          ->type_name("WAIT,WARMUP,ACTIVE[,REPEAT]");
  CLI::Option* const step =
      command
          .add_option_function<std::string>(
              "--step",
              [&options](const std::string& text) {
                if (!options.steps) options.steps.emplace();
                options.steps->step = text;
              },
              "What a step is: an NVTX range, a launch of a graph, or what ends with a "
              "synchronisation")
          ->type_name("NAME|graph|sync");
  steps->needs(step);
  step->needs(steps);
  steps->excludes(range);
  command
      .add_flag("--profiler-api", options.profiler_api,
                "Record between cudaProfilerStart and cudaProfilerStop")
      ->excludes(range)
      ->excludes(steps);
  command.add_flag("--start-paused", options.paused,
                   "Record nothing until `gprof-ml control start`");
}

}  // namespace gprofml::app
