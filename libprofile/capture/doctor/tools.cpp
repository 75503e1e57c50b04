// Other tools that own what only one can own: CUPTI, NVTX, the counters.
#include <fmt/format.h>

#include <string_view>

#include "libprofile/capture/doctor/probes.hpp"
#include "libprofile/capture/environment.hpp"

namespace gprofml::profile {
namespace {

/// Names as /proc/PID/comm has them, cut to 15 characters.
struct KnownTool {
  const char* name;
  const char* code;
  const char* text;
  const char* repair;  ///< "{}" is the process id
};

constexpr const char* kCountersHeld =
    "holds the hardware counters of GPUs before Hopper while it watches them; timelines are not "
    "touched";
constexpr const char* kProfiles =
    "profiles; a program in which it is loaded has no CUPTI left for the recorder";
constexpr const char* kDebugs = "owns the programs it runs: no CUPTI is left in them";

constexpr KnownTool kTools[] = {
    {"nv-hostengine", "dcgm", kCountersHeld, "dcgmi profile --pause"},
    {"dcgm-exporter", "dcgm", kCountersHeld, "dcgmi profile --pause"},
    {"nsys", "nsys", kProfiles, "nsys shutdown --kill none"},
    {"nsys-launcher", "nsys", kProfiles, "nsys shutdown --kill none"},
    {"ncu", "ncu", kProfiles, "kill {}"},
    {"nv-nsight-cu-cl", "ncu", kProfiles, "kill {}"},
    {"cuda-gdb", "cuda_gdb", kDebugs, "kill {}"},
    {"compute-sanitiz", "compute_sanitizer", kDebugs, "kill {}"},
    {"dynolog", "kineto_daemon",
     "may start PyTorch's profiler in programs that have KINETO_USE_DAEMON set",
     "unset KINETO_USE_DAEMON"},
};

void probe_processes(const Machine& machine, Findings& findings) {
  for (const RunningProcess& process : running_processes(machine)) {
    for (const KnownTool& tool : kTools) {
      if (process.name != tool.name) continue;
      findings.push_back({FindingLevel::warning,
                          "tools",
                          tool.code,
                          fmt::format("{} (pid {}) {}", process.name, process.pid, tool.text),
                          {fmt::format(fmt::runtime(tool.repair), process.pid)},
                          {}});
    }
  }
}

bool is_ours(const std::string& value) {
  return std::string_view(value).substr(value.rfind('/') + 1) == kInjectionLibrary;
}

void probe_injection_variable(const Machine& machine, const char* name, const char* code,
                              FindingLevel level, const char* what, Findings& findings) {
  const std::string value = machine.variable(name);
  if (value.empty() || is_ours(value)) return;
  findings.push_back({level,
                      "tools",
                      code,
                      fmt::format("{} is set already, to {}: {} not recorded", name, value, what),
                      {fmt::format("unset {}", name)},
                      {}});
}

void probe_variables(const Machine& machine, Findings& findings) {
  probe_injection_variable(machine, "CUDA_INJECTION64_PATH", "cuda_variable_taken",
                           FindingLevel::problem, "CUDA work is", findings);
  probe_injection_variable(machine, "NVTX_INJECTION64_PATH", "nvtx_variable_taken",
                           FindingLevel::warning, "NVTX ranges are", findings);
  const std::string kineto = machine.variable("KINETO_USE_DAEMON");
  if (!kineto.empty() && kineto != "0") {
    findings.push_back({FindingLevel::warning,
                        "tools",
                        "kineto_daemon_variable",
                        "KINETO_USE_DAEMON is set: PyTorch loads its profiler at the start and "
                        "may take CUPTI before or after the recorder",
                        {"unset KINETO_USE_DAEMON"},
                        {}});
  }
  if (!machine.variable("NSYS_PROFILING_SESSION_ID").empty()) {
    findings.push_back({FindingLevel::problem,
                        "tools",
                        "inside_nsys",
                        "this shell runs inside nsys (NSYS_PROFILING_SESSION_ID is set): CUPTI is "
                        "its own in every program started here",
                        {"exit"},
                        {}});
  }
  for (const auto& [name, value] : machine.environment) {
    if (name.rfind("CUPTI_", 0) != 0) continue;
    findings.push_back({FindingLevel::note,
                        "tools",
                        "cupti_variable",
                        fmt::format("{}={} changes how CUPTI behaves", name, value),
                        {fmt::format("unset {}", name)},
                        {}});
  }
}

}  // namespace

std::vector<RunningProcess> running_processes(const Machine& machine) {
  std::vector<RunningProcess> processes;
  for (const std::string& pid : machine.names_in("/proc")) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto name = machine.read(fmt::format("/proc/{}/comm", pid));
    if (name) processes.push_back({pid, name->substr(0, name->find('\n'))});
  }
  return processes;
}

void probe_tools(const Machine& machine, Findings& findings) {
  probe_variables(machine, findings);
  probe_processes(machine, findings);
}

}  // namespace gprofml::profile
