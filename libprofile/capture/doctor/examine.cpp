#include "libprofile/capture/doctor/examine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

const Finding* first_problem(const Findings& findings, const std::string& area) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.level == FindingLevel::problem && (area.empty() || finding.area == area);
  });
  return found == findings.end() ? nullptr : &*found;
}

std::string counted(std::ptrdiff_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace

const char* level_name(FindingLevel level) {
  switch (level) {
    case FindingLevel::ok:
      return "ok";
    case FindingLevel::note:
      return "note";
    case FindingLevel::warning:
      return "warning";
    case FindingLevel::problem:
      return "problem";
  }
  return "problem";
}

Findings examine(const Machine& machine) {
  const NvmlFacts nvml = ask_nvml(machine.nvml_library);
  Findings findings;
  probe_recorder(machine, findings);
  probe_driver(machine, nvml, findings);
  probe_cupti(machine, nvml, findings);
  probe_permissions(machine, findings);
  probe_sharing(machine, nvml, findings);
  probe_tools(machine, findings);
  probe_disk(machine, findings);
  return findings;
}

std::string verdict_of(const Findings& findings) {
  if (first_problem(findings, "recorder") != nullptr ||
      first_problem(findings, "disk") != nullptr) {
    return "Nothing can be recorded here until the problems below are repaired.";
  }
  if (first_problem(findings, "driver") != nullptr) {
    return "No GPU work can be recorded here, for no working NVIDIA driver was found; NVTX ranges "
           "can.";
  }
  if (first_problem(findings, "") != nullptr) {
    return "GPU work is not recorded here until the problems below are repaired; NVTX ranges are "
           "unless one of them names them.";
  }
  const auto warnings = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.level == FindingLevel::warning;
  });
  if (warnings == 0) return "GPU work can be recorded here.";
  return fmt::format("GPU work can be recorded here, with {}.",
                     counted(warnings, "warning", "warnings"));
}

}  // namespace gprofml::profile
