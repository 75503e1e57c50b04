// What this user, or this container, may do: counters, and reading other processes.
#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

constexpr int kSysPtrace = 19;
constexpr int kSysAdmin = 21;
constexpr int kPerfmon = 38;

/// The number behind "NAME:" in a file of such lines, nullopt when it has none.
std::optional<std::uint64_t> number_of(const std::string& text, const std::string& name, int base) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(name + ":", 0) != 0) continue;
    return std::strtoull(line.c_str() + name.size() + 1, nullptr, base);
  }
  return std::nullopt;
}

bool has(std::uint64_t capabilities, int capability) {
  return (capabilities >> capability & 1U) != 0;
}

std::uint64_t effective_capabilities(const Machine& machine) {
  return number_of(machine.read("/proc/self/status").value_or(""), "CapEff", 16).value_or(0);
}

std::vector<std::string> counters_repair(const std::string& container) {
  if (container == "Kubernetes") {
    return {R"(kubectl patch deployment NAME --type=json -p '[{"op":"add","path":)"
            R"("/spec/template/spec/containers/0/securityContext","value":)"
            R"({"capabilities":{"add":["SYS_ADMIN"]}}}]')"};
  }
  if (!container.empty()) return {"docker run --gpus all --cap-add=SYS_ADMIN IMAGE PROGRAM"};
  return {
      "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
      "/etc/modprobe.d/nvidia-profiling.conf && sudo update-initramfs -u && sudo reboot",
      "sudo -E gprof-ml run -- PROGRAM"};
}

void probe_counters(const Machine& machine, const std::string& container, Findings& findings) {
  const std::optional<std::string> parameters = machine.read("/proc/driver/nvidia/params");
  if (!parameters) {
    if (kernel_driver_version(machine).empty()) return;  // the driver's finding says it all
    findings.push_back({FindingLevel::note,
                        "permission",
                        "counters_unknown",
                        "whether hardware counters are for administrators only cannot be read; "
                        "timelines need no right",
                        {"cat /proc/driver/nvidia/params"},
                        {"/proc/driver/nvidia/params"}});
    return;
  }
  const bool is_restricted = number_of(*parameters, "RmProfilingAdminOnly", 10).value_or(0) != 0;
  const std::uint64_t capabilities = effective_capabilities(machine);
  const bool may = has(capabilities, kSysAdmin) || has(capabilities, kPerfmon);
  if (!is_restricted || may) {
    findings.push_back({FindingLevel::ok,
                        "permission",
                        "counters_allowed",
                        is_restricted ? "hardware counters are for administrators only "
                                        "(RmProfilingAdminOnly: 1), and this process is one"
                                      : "hardware counters are for all users "
                                        "(RmProfilingAdminOnly: 0)",
                        {},
                        {"/proc/driver/nvidia/params"}});
    return;
  }
  findings.push_back({FindingLevel::warning,
                      "permission",
                      "counters_admin_only",
                      "hardware counters are for administrators only (RmProfilingAdminOnly: 1): "
                      "this user gets none; timelines need no right",
                      counters_repair(container),
                      {"/proc/driver/nvidia/params"}});
}

void probe_container(const Machine& machine, const std::string& container, Findings& findings) {
  if (container.empty()) return;
  const std::uint64_t capabilities = effective_capabilities(machine);
  const auto text = [&](int capability) { return has(capabilities, capability) ? "yes" : "no"; };
  findings.push_back(
      {FindingLevel::note,
       "permission",
       "container",
       fmt::format("this is a {} container; capabilities: CAP_SYS_ADMIN {}, CAP_PERFMON {}, "
                   "CAP_SYS_PTRACE {}. Timelines need none of them, counters one of the first two",
                   container, text(kSysAdmin), text(kPerfmon), text(kSysPtrace)),
       {},
       {}});
}

void probe_kernel_settings(const Machine& machine, Findings& findings) {
  const std::string scope = machine.read("/proc/sys/kernel/yama/ptrace_scope").value_or("");
  const std::string paranoid = machine.read("/proc/sys/kernel/perf_event_paranoid").value_or("");
  const bool may_attach = has(effective_capabilities(machine), kSysPtrace);
  if (!scope.empty() && std::atoi(scope.c_str()) >= 2 && !may_attach) {
    findings.push_back({FindingLevel::note,
                        "permission",
                        "ptrace_restricted",
                        fmt::format("kernel.yama.ptrace_scope is {}: debuggers cannot attach to a "
                                    "running program; programs that `run` starts are recorded all "
                                    "the same",
                                    std::atoi(scope.c_str())),
                        {"sudo sysctl kernel.yama.ptrace_scope=1"},
                        {}});
  }
  if (!paranoid.empty()) {
    findings.push_back({FindingLevel::ok,
                        "permission",
                        "perf_events",
                        fmt::format("kernel.perf_event_paranoid is {}, which does not matter: no "
                                    "perf events are used",
                                    std::atoi(paranoid.c_str())),
                        {},
                        {}});
  }
}

}  // namespace

std::string container_name(const Machine& machine) {
  if (!machine.variable("KUBERNETES_SERVICE_HOST").empty()) return "Kubernetes";
  const std::string groups = machine.read("/proc/1/cgroup").value_or("");
  if (groups.find("kubepods") != std::string::npos) return "Kubernetes";
  if (machine.exists("/run/.containerenv")) return "Podman";
  if (machine.exists("/.dockerenv") || groups.find("docker") != std::string::npos) return "Docker";
  if (!machine.variable("APPTAINER_CONTAINER").empty() ||
      !machine.variable("SINGULARITY_CONTAINER").empty()) {
    return "Apptainer";
  }
  if (groups.find("containerd") != std::string::npos) return "containerd";
  if (groups.find("lxc") != std::string::npos || machine.variable("container") == "lxc")
    return "LXC";
  return {};
}

void probe_permissions(const Machine& machine, Findings& findings) {
  const std::string container = container_name(machine);
  probe_counters(machine, container, findings);
  probe_container(machine, container, findings);
  probe_kernel_settings(machine, findings);
}

}  // namespace gprofml::profile
