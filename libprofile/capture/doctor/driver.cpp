// The NVIDIA driver: its kernel module, its device files, its libraries in this file system.
#include <fmt/format.h>

#include "libprofile/capture/doctor/library_path.hpp"
#include "libprofile/capture/doctor/probes.hpp"

namespace gprofml::profile {
namespace {

constexpr char kNvidiaVendor[] = "0x10de";

bool has_nvidia_hardware(const Machine& machine) {
  const std::string devices = "/sys/bus/pci/devices";
  for (const std::string& device : machine.names_in(devices)) {
    const auto vendor = machine.read(fmt::format("{}/{}/vendor", devices, device));
    const auto device_class = machine.read(fmt::format("{}/{}/class", devices, device));
    const bool is_display = device_class && device_class->rfind("0x03", 0) == 0;
    if (vendor && vendor->rfind(kNvidiaVendor, 0) == 0 && is_display) return true;
  }
  return false;
}

/// How the driver is installed where /etc/os-release says this is.
std::string install_command(const Machine& machine) {
  const std::string system = machine.read("/etc/os-release").value_or("");
  if (system.find("ID=ubuntu") != std::string::npos) return "sudo ubuntu-drivers install --gpgpu";
  if (system.find("ID=debian") != std::string::npos) {
    return "sudo apt-get install linux-headers-amd64 nvidia-driver && sudo reboot";
  }
  if (system.find("ID=\"rhel\"") != std::string::npos ||
      system.find("ID=\"rocky\"") != std::string::npos ||
      system.find("ID=fedora") != std::string::npos) {
    return "sudo dnf install nvidia-open && sudo reboot";
  }
  return "sudo sh NVIDIA-Linux-x86_64-*.run && sudo reboot";
}

void driver_is_missing(const Machine& machine, Findings& findings) {
  Finding finding{FindingLevel::problem, "driver", "driver_missing", "", {}, {}};
  finding.looked_at = {"/proc/driver/nvidia/version", "/dev/nvidiactl", "/sys/bus/pci/devices"};
  const std::string container = container_name(machine);
  if (machine.exists("/dev/dxg")) {
    finding.code = "wsl";
    finding.level = FindingLevel::warning;
    finding.text =
        "this is WSL: the driver is the one of Windows; timelines are recorded, counters are not";
    finding.repair = {"nvidia-smi"};
  } else if (has_nvidia_hardware(machine) && container.empty()) {
    finding.code = "driver_not_loaded";
    finding.text = "an NVIDIA GPU is on the PCI bus, but its driver is not loaded";
    finding.repair = {"sudo modprobe nvidia", install_command(machine)};
  } else if (!container.empty()) {
    finding.text = fmt::format(
        "no NVIDIA driver is visible in this {} container{}; if the host has one, the container "
        "was started without its GPUs",
        container, has_nvidia_hardware(machine) ? "" : ", nor an NVIDIA GPU on the PCI bus");
    finding.repair = container == "Kubernetes"
                         ? std::vector<std::string>{"kubectl set resources deployment NAME "
                                                    "--limits=nvidia.com/gpu=1"}
                         : std::vector<std::string>{"docker run --gpus all IMAGE PROGRAM"};
  } else {
    finding.text =
        "no NVIDIA driver is loaded and no NVIDIA GPU is on the PCI bus: CUDA programs end with "
        "an error here";
    finding.repair = {"lspci -nn | grep -i nvidia", install_command(machine)};
  }
  findings.push_back(std::move(finding));
}

std::vector<std::string> gpu_files(const Machine& machine) {
  std::vector<std::string> files;
  for (const std::string& name : machine.names_in("/dev")) {
    const bool is_gpu = name.rfind("nvidia", 0) == 0 && name.size() > 6 &&
                        name.find_first_not_of("0123456789", 6) == std::string::npos;
    if (is_gpu) files.push_back("/dev/" + name);
  }
  return files;
}

void probe_device_files(const Machine& machine, Findings& findings) {
  const std::vector<std::string> files = gpu_files(machine);
  if (!files.empty() && machine.exists("/dev/nvidiactl")) return;
  const bool in_container = !container_name(machine).empty();
  findings.push_back(
      {FindingLevel::problem,
       "driver",
       "no_device_files",
       fmt::format("the driver is loaded, but {} is missing: programs here find no GPU",
                   files.empty() ? "/dev/nvidia0" : "/dev/nvidiactl"),
       {in_container ? "docker run --gpus all IMAGE PROGRAM" : "sudo nvidia-modprobe -u -c=0"},
       {"/dev/nvidia0", "/dev/nvidiactl"}});
}

void probe_libcuda(const Machine& machine, Findings& findings) {
  const LibraryPath path(machine);
  const std::vector<std::string> found = path.find("libcuda.so.1");
  if (!found.empty()) return;
  const bool in_container = !container_name(machine).empty();
  findings.push_back(
      {FindingLevel::problem,
       "driver",
       "libcuda_missing",
       "the driver is loaded, but its libcuda.so.1 is not on the library path: CUDA programs end "
       "with an error here",
       {in_container
            ? "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility IMAGE PROGRAM"
            : "sudo ldconfig",
        install_command(machine)},
       path.folders()});
}

void probe_nvml(const std::string& version, const NvmlFacts& nvml, Findings& findings) {
  if (!nvml.driver.empty() && nvml.driver != version) {
    findings.push_back({FindingLevel::problem,
                        "driver",
                        "driver_mismatch",
                        fmt::format("the kernel module is {}, the libraries are {}: the driver was "
                                    "updated without a restart",
                                    version, nvml.driver),
                        {"sudo reboot",
                         "sudo rmmod nvidia_uvm nvidia_modeset nvidia && sudo "
                         "modprobe nvidia"},
                        {}});
  } else if (nvml.is_loaded && !nvml.why_not.empty()) {
    findings.push_back({FindingLevel::problem,
                        "driver",
                        "nvml_fails",
                        "NVML cannot reach the driver: " + nvml.why_not,
                        {"nvidia-smi", "sudo dmesg | grep -i -e nvrm -e xid"},
                        {}});
  }
}

}  // namespace

std::string kernel_driver_version(const Machine& machine) {
  const std::string text = machine.read("/proc/driver/nvidia/version").value_or("");
  // NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep ...
  // NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build ...
  std::size_t at = text.find("Kernel Module");
  if (at == std::string::npos) return {};
  at = text.find("  ", at);
  if (at == std::string::npos) return {};
  at = text.find_first_not_of(' ', at);
  if (at == std::string::npos) return {};
  return text.substr(at, text.find_first_of(" \n", at) - at);
}

void probe_driver(const Machine& machine, const NvmlFacts& nvml, Findings& findings) {
  const std::string version = kernel_driver_version(machine);
  if (version.empty()) return driver_is_missing(machine, findings);
  std::string gpus;
  for (const NvmlDevice& device : nvml.devices) gpus += (gpus.empty() ? "; " : ", ") + device.name;
  std::string cuda;
  if (nvml.cuda_version > 0) {
    cuda = fmt::format(", takes CUDA up to {}.{}", nvml.cuda_version / 1000,
                       nvml.cuda_version % 1000 / 10);
  }
  findings.push_back({FindingLevel::ok,
                      "driver",
                      "driver",
                      fmt::format("driver {}{}{}", version, cuda, gpus),
                      {},
                      {}});
  probe_device_files(machine, findings);
  probe_libcuda(machine, findings);
  probe_nvml(version, nvml, findings);
}

}  // namespace gprofml::profile
