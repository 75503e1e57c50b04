// Title, window, step and data: what the report is about and what its figures rest on.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/text_sections.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis::detail {
namespace {

constexpr std::int64_t kFewestForPercentiles = 5;
constexpr std::size_t kIndent = 8;  // below "window  ", "step    ", "data    "

std::string counted(std::int64_t count, const std::string& one, const std::string& many) {
  return fmt::format("{}{}{}", count_text(count), kGlue, count == 1 ? one : many);
}

/// "pid 41207" or "8 processes"; empty where no process id was recorded.
std::string process_text(const Report& report) {
  std::set<std::int64_t> pids;
  for (const DeviceReport& device : report.devices) {
    pids.insert(device.processes.begin(), device.processes.end());
  }
  pids.erase(profile::kUnknown);
  if (pids.empty()) return "";
  if (pids.size() == 1) return fmt::format("pid {}", *pids.begin());
  return fmt::format("{} processes", pids.size());
}

/// "1x NVIDIA H200"; "2 GPUs" where the source does not name them.
std::string devices_text(const Report& report) {
  std::map<std::string, int> count_of;
  for (const DeviceReport& device : report.devices) ++count_of[device.name];
  std::string out;
  for (const auto& [name, count] : count_of) {
    if (!out.empty()) out += ", ";
    out += name.empty() ? fmt::format("{} GPU{}", count, count == 1 ? "" : "s")
                        : fmt::format("{}x {}", count, printable(name));
  }
  return out.empty() ? "no GPU work" : out;
}

/// Joins with two blanks and starts a new line before a piece that does not fit.
std::string flow(const std::vector<std::string>& pieces) {
  std::string out;
  std::size_t column = 0;
  for (const std::string& piece : pieces) {
    if (piece.empty()) continue;
    const std::string text = shorten_middle(piece, kLineWidth - 2);
    const std::size_t width = display_width(text);
    if (column > 0 && column + 2 + width > kLineWidth) {
      out += '\n';
      column = 0;
    }
    out += (out.empty() ? "" : "  ") + text;
    column += width + (out.size() == text.size() ? 0 : 2);
  }
  return out + "\n";
}

std::string without_glue(std::string text) {
  std::replace(text.begin(), text.end(), kGlue, ' ');
  return text;
}

std::string left_out_text(const Window& window) {
  std::string parts;
  for (const LeftOut& part : window.left_out) {
    if (!parts.empty()) parts += ", ";
    parts += printable(part.what) + " " + duration_text(part.duration_ns);
  }
  return parts;
}

/// "ranges:ProfilerStep" → "ranges named ProfilerStep".
std::string step_source_text(const Steps& steps) {
  const std::string prefix = "ranges:";
  if (steps.source.rfind(prefix, 0) != 0) return printable(steps.source);
  return "ranges named " + printable(steps.source.substr(prefix.size()));
}

std::string found_text(const Steps& steps) {
  return fmt::format("found from {}, confidence {:.2f}", step_source_text(steps), steps.confidence);
}

/// In hundredths of a percent, rounded down, so that 100.00 % means complete.
std::string coverage_text(const Quality& quality) {
  const std::int64_t hundredths = static_cast<std::int64_t>(quality.coverage * 10'000.0 + 1e-9);
  return fmt::format("{}{}%", fixed(hundredths, 2), kGlue);
}

}  // namespace

std::int64_t steps_in_window(const Report& report) {
  return report.window.steps;
}

std::string title_section(const Report& report, const TextOptions& options) {
  const RunInfo& run = report.run;
  const std::string version = options.tool_version.empty() ? "" : " " + options.tool_version;
  std::vector<std::string> pieces = {"gprof-ml" + version};
  if (run.simulated) pieces.push_back("SIMULATED GPU, not a measurement");
  pieces.push_back(printable(run.source));
  const std::string pids = process_text(report);
  const std::string command = shorten_middle(printable(run.command), 40);
  pieces.push_back(command.empty() || pids.empty() ? command + pids : command + " (" + pids + ")");
  pieces.push_back(devices_text(report));
  pieces.push_back("recorded " + without_glue(duration_text(run.end_ns - run.start_ns)));
  return flow(pieces);
}

std::string window_section(const Report& report) {
  const Window& window = report.window;
  const profile::Nanoseconds length_ns = window.to_ns - window.from_ns;
  std::string text;
  switch (window.kind) {
    case WindowKind::all:
      text = window.recorded_windows > 1
                 ? fmt::format("the longest of {} recorded windows, {}", window.recorded_windows,
                               length_text(length_ns))
                 : "everything recorded, " + length_text(length_ns);
      break;
    case WindowKind::range:
      text = "the range asked for, " + length_text(length_ns);
      break;
    case WindowKind::steps:
      text = fmt::format("{}, {} ({})",
                         counted(steps_in_window(report), "steady step", "steady steps"),
                         length_text(length_ns), found_text(report.steps));
      break;
  }
  if (window.recorded_windows == 1) text += "; recorded in 1 window";
  if (window.recorded_windows > 1 && window.kind != WindowKind::all) {
    text += fmt::format("; recorded in {} windows, this is {}", window.recorded_windows,
                        window.kind == WindowKind::range ? "of one" : "of the longest");
  }
  std::string out = wrap(text, "window  ", kIndent);
  const std::string left_out = left_out_text(window);
  if (!left_out.empty()) {
    // Of several recorded windows nothing shows all at once.
    const std::string hint = window.recorded_windows > 1
                                 ? std::string()
                                 : fmt::format(" (--window{}all shows all)", kGlue);
    out += wrap("left out: " + left_out + hint, std::string(kIndent, ' '), kIndent);
  }
  return out;
}

std::string step_section(const Report& report) {
  const Steps& steps = report.steps;
  if (steps.count == 0) return "";
  std::string text;
  if (steps.count == 1) {
    text = fmt::format("one {}, {}", printable(steps.kind), duration_text(steps.median_ns));
  } else {
    text = fmt::format("{} found, median {} start to start", count_text(steps.count),
                       duration_text(steps.median_ns));
    if (steps.count > kFewestForPercentiles) {
      text +=
          fmt::format(", p95 {}, p99 {}", duration_text(steps.p95_ns), duration_text(steps.p99_ns));
    }
  }
  if (!steps.outliers.empty()) {
    const StepOutlier& slowest = *std::max_element(
        steps.outliers.begin(), steps.outliers.end(),
        [](const StepOutlier& a, const StepOutlier& b) { return a.duration_ns < b.duration_ns; });
    const std::string name =
        slowest.name.empty() ? fmt::format("#{}", slowest.index) : printable(slowest.name);
    text += fmt::format(", slowest {} ({})", duration_text(slowest.duration_ns),
                        shorten_middle(name, 40));
  }
  if (report.window.kind != WindowKind::steps) text += "; " + found_text(steps);
  return wrap(text, "step    ", kIndent);
}

std::string data_section(const Report& report) {
  const Quality& quality = report.quality;
  const std::int64_t activities = quality.linked + quality.unlinked;
  const std::int64_t silent = quality.submissions - quality.linked_submissions;
  const std::int64_t suspect = quality.no_timestamp + quality.overruns + quality.before_launch;
  const std::string submissions = counted(quality.submissions, "submission", "submissions");
  std::vector<std::string> facts;
  if (quality.submissions == 0) {
    facts.push_back("no submission of GPU work recorded");
  } else if (silent > 0) {
    facts.push_back(fmt::format("{} of {} without recorded GPU work (coverage {})",
                                count_text(silent), submissions, coverage_text(quality)));
  } else {
    const bool nothing_else =
        quality.unlinked == 0 && quality.dropped == 0 && suspect == 0 && quality.warnings.empty();
    facts.push_back(fmt::format("{}{} of {} with their GPU work", nothing_else ? "complete: " : "",
                                count_text(quality.submissions), submissions));
  }
  if (quality.unlinked > 0) {
    facts.push_back(fmt::format("{} of {} without a launch record", count_text(quality.unlinked),
                                counted(activities, "GPU activity", "GPU activities")));
  }
  facts.push_back(counted(quality.dropped, "dropped", "dropped"));
  facts.push_back(counted(suspect, "suspect", "suspect"));
  std::string text;
  for (const std::string& fact : facts) text += (text.empty() ? "" : ", ") + fact;
  std::string out = wrap(text, "data    ", kIndent);
  if (quality.whole_graphs > 0) {
    out +=
        wrap(fmt::format("{}, each recorded as a whole: what ran inside is not known "
                         "(--graphs{}nodes records it)",
                         counted(quality.whole_graphs, "CUDA graph launch", "CUDA graph launches"),
                         kGlue),
             std::string(kIndent, ' '), kIndent);
  }
  if (report.clock_bound_ns != profile::kUnknown) {
    out += wrap("host and GPU clocks agree to " + duration_text(report.clock_bound_ns),
                std::string(kIndent, ' '), kIndent);
  }
  return out;
}

}  // namespace gprofml::analysis::detail
