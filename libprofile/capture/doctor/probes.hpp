// The doctor's probes, one a family of facts, each in a file of its own. A probe adds findings and
// changes nothing on the machine.
#pragma once

#include "libprofile/capture/doctor/finding.hpp"
#include "libprofile/capture/doctor/machine.hpp"
#include "libprofile/capture/doctor/nvml.hpp"

namespace gprofml::profile {

void probe_recorder(const Machine& machine, Findings& findings);
void probe_driver(const Machine& machine, const NvmlFacts& nvml, Findings& findings);
void probe_cupti(const Machine& machine, const NvmlFacts& nvml, Findings& findings);
void probe_permissions(const Machine& machine, Findings& findings);
void probe_sharing(const Machine& machine, const NvmlFacts& nvml, Findings& findings);
void probe_tools(const Machine& machine, Findings& findings);
void probe_disk(const Machine& machine, Findings& findings);

/// The version of the kernel module, "580.95.05"; empty when none is loaded.
std::string kernel_driver_version(const Machine& machine);

/// Docker, Podman, Kubernetes …; empty outside a container.
std::string container_name(const Machine& machine);

/// Ids and names of running processes, as /proc/PID/comm has them (at most 15 characters).
struct RunningProcess {
  std::string pid;
  std::string name;
};
std::vector<RunningProcess> running_processes(const Machine& machine);

}  // namespace gprofml::profile
