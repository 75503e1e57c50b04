// GPUs that are divided or shut off: MIG, MPS, vGPU, confidential computing.
#include <fmt/format.h>

#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

/// GPU instances have folders of their own: /proc/driver/nvidia/capabilities/gpu0/mig/gi1.
bool has_mig_instances(const Machine& machine) {
  const std::string gpus = "/proc/driver/nvidia/capabilities";
  for (const std::string& gpu : machine.names_in(gpus)) {
    for (const std::string& name : machine.names_in(fmt::format("{}/{}/mig", gpus, gpu))) {
      if (name.rfind("gi", 0) == 0) return true;
    }
  }
  return false;
}

void probe_mig(const Machine& machine, const NvmlFacts& nvml, Findings& findings) {
  bool is_enabled = has_mig_instances(machine);
  for (const NvmlDevice& device : nvml.devices) is_enabled = is_enabled || device.is_mig_enabled;
  if (!is_enabled) return;
  findings.push_back(
      {FindingLevel::warning,
       "sharing",
       "mig",
       "a GPU is divided (MIG): timelines are recorded of the instance that the program sees; "
       "counters only where it is a compute instance of its own, and none of memory or link",
       {"export CUDA_VISIBLE_DEVICES=$(nvidia-smi -L | grep -o 'MIG-[0-9a-f-]*' | head -n 1)",
        "sudo nvidia-smi -mig 0"},
       {}});
}

bool runs(const Machine& machine, const std::string& start) {
  for (const RunningProcess& process : running_processes(machine)) {
    if (process.name.rfind(start, 0) == 0) return true;
  }
  return false;
}

void probe_mps(const Machine& machine, Findings& findings) {
  const std::string variable = machine.variable("CUDA_MPS_PIPE_DIRECTORY");
  const std::string folder = variable.empty() ? "/tmp/nvidia-mps" : variable;
  const bool is_there = machine.exists(folder + "/control");
  const bool is_running = runs(machine, "nvidia-cuda-mps");
  if (!is_there && !is_running && variable.empty()) return;
  if (!is_there && !is_running) {
    findings.push_back({FindingLevel::warning,
                        "sharing",
                        "mps_unreachable",
                        fmt::format("CUDA_MPS_PIPE_DIRECTORY is {}, where no MPS listens: programs "
                                    "that expect it end with an error",
                                    variable),
                        {"unset CUDA_MPS_PIPE_DIRECTORY", "nvidia-cuda-mps-control -d"},
                        {folder + "/control"}});
    return;
  }
  findings.push_back(
      {FindingLevel::warning,
       "sharing",
       "mps",
       "programs share the GPU through MPS: timelines show this program alone while others work "
       "beside it, and records of unified memory are refused",
       {"echo quit | nvidia-cuda-mps-control"},
       {folder + "/control"}});
}

void probe_vgpu(const Machine& machine, const NvmlFacts& nvml, Findings& findings) {
  bool is_vgpu = false;
  for (const NvmlDevice& device : nvml.devices) {
    is_vgpu = is_vgpu || device.virtualisation == Virtualisation::vgpu;
  }
  if (!is_vgpu) {
    for (const std::string& gpu : machine.names_in("/proc/driver/nvidia/gpus")) {
      const auto text = machine.read(fmt::format("/proc/driver/nvidia/gpus/{}/information", gpu));
      // A vGPU's model is its profile: "NVIDIA GRID ..." or "NVIDIA A40-48Q".
      is_vgpu = is_vgpu || (text && text->find("GRID") != std::string::npos);
    }
  }
  if (!is_vgpu) return;
  findings.push_back({FindingLevel::warning,
                      "sharing",
                      "vgpu",
                      "the GPU is a virtual one (vGPU): CUPTI refuses to record unless the host "
                      "allows it; the command is for the host",
                      {"echo enable_profiling=1 | sudo tee "
                       "/sys/bus/mdev/devices/UUID/nvidia/vgpu_params"},
                      {}});
}

void probe_confidential(const NvmlFacts& nvml, Findings& findings) {
  if (!nvml.is_confidential) return;
  findings.push_back(
      {nvml.has_devtools_mode ? FindingLevel::note : FindingLevel::problem,
       "sharing",
       nvml.has_devtools_mode ? "confidential_devtools" : "confidential",
       nvml.has_devtools_mode
           ? "confidential computing is on in its mode for tools: times differ from those without"
           : "confidential computing is on: CUPTI refuses to record "
             "(CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED)",
       nvml.has_devtools_mode
           ? std::vector<std::string>{}
           : std::vector<std::string>{"sudo python3 nvidia_gpu_tools.py --gpu 0 "
                                      "--set-cc-mode=devtools --reset-after-cc-mode-switch"},
       {}});
}

}  // namespace

void probe_sharing(const Machine& machine, const NvmlFacts& nvml, Findings& findings) {
  probe_mig(machine, nvml, findings);
  probe_mps(machine, findings);
  probe_vgpu(machine, nvml, findings);
  probe_confidential(nvml, findings);
}

}  // namespace gprofml::profile
