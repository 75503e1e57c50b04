#include "libanalysis/report/text.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/text_sections.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis {
namespace {

std::string verdict_section(const Report& report, const TextOptions& options) {
  if (report.verdict.sentence.empty()) return "";
  std::string lines = wrap(printable(report.verdict.sentence), "", 0);
  lines.pop_back();
  return detail::heading(lines, options) + "\n";
}

std::string warning_section(const Report& report) {
  std::string out;
  for (const QualityWarning& warning : report.quality.warnings) {
    out += wrap(fmt::format("{} ({})", printable(warning.message), printable(warning.code)),
                "warning: ", 2);
  }
  return out;
}

/// Rules that miss the same thing share a line.
std::string abstention_section(const Report& report) {
  std::map<std::pair<std::string, std::string>, std::string> rules_of;
  for (const Abstention& abstention : report.abstained) {
    std::string& rules = rules_of[{abstention.missing, abstention.switch_to_record}];
    rules += (rules.empty() ? "" : ", ") + abstention.rule;
  }
  std::string out;
  for (const auto& [missing_and_switch, rules] : rules_of) {
    std::string text = printable(rules) + ": " + printable(missing_and_switch.first);
    if (!missing_and_switch.second.empty()) {
      text += " (needs " + printable(missing_and_switch.second) + ")";
    }
    out += wrap(text, "not judged: ", 2);
  }
  return out;
}

/// The input as one word of a shell command.
std::string shell_word(const std::string& text) {
  const std::string shown = printable(text);
  const bool plain = shown.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_-+=./,:@%") == std::string::npos;
  if (plain && !shown.empty()) return shown;
  std::string quoted = "'";
  for (const char c : shown) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// A command a line, so that it can be copied whole; with FILE for an input too long for that.
std::string next_section(const Report& report, const TextOptions& options) {
  constexpr std::size_t kLongestInput = 43;
  std::string input = shell_word(report.run.source);
  if (display_width(input) > kLongestInput) input = "FILE";
  std::vector<std::string> commands;
  if (report.critical_path.exists && !options.path)
    commands.push_back("analyze " + input + " --path");
  if (!report.window.left_out.empty()) commands.push_back("analyze " + input + " --window all");
  commands.push_back("analyze " + input + " --format json");
  if (!options.is_run_db) commands.push_back("import " + input + " -o run.db");
  std::string out;
  for (const std::string& command : commands) {
    out += std::string(out.empty() ? "next: " : "      ") + "gprof-ml " + command + "\n";
  }
  return out;
}

void append_block(std::string& out, const std::string& block) {
  if (block.empty()) return;
  if (!out.empty()) out += "\n";
  out += block;
}

}  // namespace

std::string detail::heading(const std::string& text, const TextOptions& options) {
  return options.color ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::string render_text(const Report& report, const TextOptions& options) {
  std::string out;
  append_block(out, detail::title_section(report, options));
  append_block(out, verdict_section(report, options));
  append_block(out, detail::window_section(report) + detail::step_section(report) +
                        detail::serving_section(report) + detail::metric_section(report) +
                        detail::data_section(report));
  append_block(out, detail::device_sections(report, options));
  append_block(out, detail::path_section(report, options) + detail::ranking_section(report));
  append_block(out, detail::segment_section(report, options));
  append_block(out, detail::kernel_section(report, options));
  append_block(out, detail::op_section(report, options));
  append_block(
      out, warning_section(report) + abstention_section(report) + next_section(report, options));
  return out;
}

}  // namespace gprofml::analysis
