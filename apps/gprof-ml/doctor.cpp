// gprof-ml doctor: what can be recorded on this machine, what cannot, and how that is repaired.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "apps/gprof-ml/command.hpp"
#include "apps/gprof-ml/json_text.hpp"
#include "apps/gprof-ml/output.hpp"
#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/wrap.hpp"
#include "libprofile/capture/doctor/examine.hpp"
#include "libprofile/capture/merge.hpp"

namespace gprofml::app {
namespace {

using profile::Finding;

struct DoctorArguments {
  std::string format = "text";
  std::string folder;
  std::int64_t pid = 0;
};

constexpr std::size_t kIndent = 21;

/// Commands and paths are for pasting: in one line each, however long.
std::string unwrapped(const char* label, const std::string& text) {
  return fmt::format("{:>{}}  {}\n", label, kIndent - 2, analysis::printable(text));
}

std::string text_of(const Finding& finding, bool with_places) {
  std::string out = analysis::wrap(
      analysis::printable(finding.text),
      fmt::format("{:<8} {:<12}", profile::level_name(finding.level), finding.area), kIndent);
  for (std::size_t i = 0; i < finding.repair.size(); ++i) {
    out += unwrapped(i == 0 ? "do:" : "or:", finding.repair[i]);
  }
  if (!with_places) return out;
  for (std::size_t i = 0; i < finding.looked_at.size(); ++i) {
    out += unwrapped(i == 0 ? "looked at:" : "", finding.looked_at[i]);
  }
  return out;
}

/// Places matter where something was searched for or is amiss.
bool shows_places(const Finding& finding) {
  return finding.area == "cupti" || finding.level >= profile::FindingLevel::warning;
}

std::string text(const profile::Findings& findings) {
  std::string out = analysis::wrap(profile::verdict_of(findings), "", 0) + "\n";
  for (const Finding& finding : findings) out += text_of(finding, shows_places(finding));
  return out;
}

std::string json(const profile::Findings& findings) {
  std::string out = fmt::format(
      "{{\n  \"schema_version\": 1,\n  \"tool_version\": {},\n  \"verdict\": {},\n"
      "  \"findings\": [",
      json_text(GPROFML_VERSION), json_text(profile::verdict_of(findings)));
  const char* separator = "\n";
  for (const Finding& finding : findings) {
    out += fmt::format(
        "{}    {{\"level\": {}, \"area\": {}, \"code\": {},\n     \"text\": {},\n"
        "     \"repair\": {},\n     \"looked_at\": {}}}",
        separator, json_text(profile::level_name(finding.level)), json_text(finding.area),
        json_text(finding.code), json_text(finding.text), json_list(finding.repair),
        json_list(finding.looked_at));
    separator = ",\n";
  }
  return out + "\n  ]\n}\n";
}

int doctor(const DoctorArguments& arguments) {
  if (arguments.pid != 0 && !std::filesystem::exists(fmt::format("/proc/{}", arguments.pid))) {
    throw profile::CaptureError(fmt::format("--pid {}: there is no such process", arguments.pid));
  }
  profile::Machine machine = profile::this_machine(arguments.pid);
  if (!arguments.folder.empty()) {
    machine.output_folder = std::filesystem::absolute(arguments.folder).string();
  }
  const profile::Findings findings = profile::examine(machine);
  write_result(arguments.format == "json" ? json(findings) : text(findings), "");
  return kDone;
}

}  // namespace

void add_doctor(CLI::App& cli, Action& action) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App* const command =
      cli.add_subcommand("doctor", "Say what can be recorded here, and repair what cannot");
  command->footer(
      "Looks and changes nothing; CUDA is not started. Every finding that asks for something has\n"
      "the command to paste behind \"do:\", with others that serve as well behind \"or:\".\n"
      "Exit code: 0, whatever was found; 2 for bad usage.\n"
      "Example: gprof-ml doctor --format json");
  command->add_option("--format", arguments->format, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  command
      ->add_option("--folder", arguments->folder,
                   "Folder that recordings go to (default: the one you are in)")
      ->type_name("DIR");
  command
      ->add_option("--pid", arguments->pid,
                   "A running program: the libraries and variables that count are its own")
      ->check(CLI::PositiveNumber)
      ->type_name("PID");
  command->callback([arguments, &action] { action = [arguments] { return doctor(*arguments); }; });
}

}  // namespace gprofml::app
