// Every finding of the doctor with a machine in which it is true, and only it.
#include <catch2/catch.hpp>
#include <functional>
#include <set>

#include "test/libprofile/capture/doctor/planted_machine.hpp"

using namespace gprofml::profile;
using planted::PlantedMachine;

namespace {

struct Row {
  const char* name;
  std::function<void(PlantedMachine&)> plant;
  std::set<std::string> codes;  ///< what is not "ok"; "level code"
  const char* text;             ///< in the first of them
  const char* repair;           ///< its first command; nullptr: none is asked for
};

std::set<std::string> not_ok(const Findings& findings) {
  std::set<std::string> codes;
  for (const Finding& finding : findings) {
    if (finding.level == FindingLevel::ok) continue;
    codes.insert(std::string(level_name(finding.level)) + " " + finding.code);
  }
  return codes;
}

Finding finding_of(const Findings& findings, const std::string& level_and_code) {
  for (const Finding& finding : findings) {
    if (level_and_code == std::string(level_name(finding.level)) + " " + finding.code) {
      return finding;
    }
  }
  return {};
}

constexpr FolderState kReadOnly{true, false, 1ULL << 40U};
constexpr FolderState kMissing{false, false, 0};
constexpr FolderState kFull{true, true, 4096};
constexpr FolderState kTight{true, true, 300ULL << 20U};
constexpr FolderState kDockerShm{true, true, 64ULL << 20U};
constexpr const char* kAdminOnly = "RmProfilingAdminOnly: 1\n";

const std::vector<Row> kRows{
    // recorder
    {"no recorder",
     [](PlantedMachine& m) {
       m.machine.injection_library.clear();
       m.machine.injection_reason = "libgprofml_injection.so is not in /x";
     },
     {"problem injection_missing"},
     "is not in /x",
     "cmake --build build/release --target gprofml_injection"},
    {"a C library from before",
     [](PlantedMachine& m) { m.machine.glibc_version = "2.12"; },
     {"problem glibc_too_old"},
     "glibc 2.12; the recorder needs 2.17",
     "docker run --gpus all -it ubuntu:22.04"},
    {"no glibc",
     [](PlantedMachine& m) { m.machine.glibc_version.clear(); },
     {"warning glibc_unknown"},
     "is not glibc",
     nullptr},
    // driver
    {"no driver, no GPU",
     [](PlantedMachine& m) { m.without_driver(); },
     {"problem driver_missing"},
     "no NVIDIA GPU is on the PCI bus",
     "lspci -nn | grep -i nvidia"},
    {"a GPU whose driver is not loaded",
     [](PlantedMachine& m) {
       m.without_driver();
       m.file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
       m.file("/sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
     },
     {"problem driver_not_loaded"},
     "is on the PCI bus",
     "sudo modprobe nvidia"},
    {"an NVIDIA network card is no GPU",
     [](PlantedMachine& m) {
       m.without_driver();
       m.file("/sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
       m.file("/sys/bus/pci/devices/0000:01:00.0/class", "0x020000\n");
     },
     {"problem driver_missing"},
     "no NVIDIA GPU",
     "lspci -nn | grep -i nvidia"},
    {"a container without the GPUs",
     [](PlantedMachine& m) {
       m.without_driver();
       m.file("/.dockerenv");
     },
     {"problem driver_missing", "note container"},
     "Docker container",
     "docker run --gpus all IMAGE PROGRAM"},
    {"a pod without the GPUs",
     [](PlantedMachine& m) {
       m.without_driver();
       m.variable("KUBERNETES_SERVICE_HOST", "10.0.0.1");
     },
     {"problem driver_missing", "note container"},
     "Kubernetes container",
     "kubectl set resources deployment NAME --limits=nvidia.com/gpu=1"},
    {"WSL",
     [](PlantedMachine& m) {
       m.without_driver();
       m.file("/dev/dxg");
     },
     {"warning wsl"},
     "this is WSL",
     "nvidia-smi"},
    {"no device files",
     [](PlantedMachine& m) { m.remove("/dev/nvidia0"); },
     {"problem no_device_files"},
     "/dev/nvidia0 is missing",
     "sudo nvidia-modprobe -u -c=0"},
    {"no libcuda",
     [](PlantedMachine& m) { m.remove("/lib/x86_64-linux-gnu/libcuda.so.1"); },
     {"problem libcuda_missing"},
     "libcuda.so.1 is not on the library path",
     "sudo ldconfig"},
    {"driver updated without a restart",
     [](PlantedMachine& m) { m.nvml("driver=590.10.01 cuda=13010"); },
     {"problem driver_mismatch"},
     "580.95.05, the libraries are 590.10.01",
     "sudo reboot"},
    {"NVML fails",
     [](PlantedMachine& m) { m.nvml("init=9"); },
     {"problem nvml_fails"},
     "Driver Not Loaded",
     "nvidia-smi"},
    // CUPTI
    {"no CUPTI",
     [](PlantedMachine& m) { m.remove("/usr/local/cuda"); },
     {"problem cupti_missing"},
     "CUPTI was not found",
     "pip install nvidia-cuda-cupti"},
    {"stubs on the path",
     [](PlantedMachine& m) { m.variable("LD_LIBRARY_PATH", "/a:/usr/local/cuda/lib64/stubs:/b"); },
     {"problem stubs_on_path"},
     "/usr/local/cuda/lib64/stubs",
     "export LD_LIBRARY_PATH=/a:/b"},
    {"nothing but stubs on the path",
     [](PlantedMachine& m) { m.variable("LD_LIBRARY_PATH", "/cuda/lib64/stubs"); },
     {"problem stubs_on_path"},
     "LD_LIBRARY_PATH",
     "unset LD_LIBRARY_PATH"},
    {"only a stub of CUPTI",
     [](PlantedMachine& m) {
       m.remove("/usr/local/cuda");
       m.variable("CUDA_HOME", "/cuda/stubs");
       m.file("/cuda/stubs/lib64/libcupti.so.13");
     },
     {"problem cupti_missing"},
     "CUPTI was not found",
     "pip install nvidia-cuda-cupti"},
    {"CUPTI 13 on a driver for 12.4",
     [](PlantedMachine& m) {
       m.file("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar\n");
       m.nvml("driver=550.54.15 cuda=12040");
     },
     {"problem cupti_newer_than_driver"},
     "CUDA 13.0 is newer than the driver, which takes CUDA up to 12.4",
     "pip install 'nvidia-cuda-cupti-cu12==12.4.*'"},
    {"the same without NVML",
     [](PlantedMachine& m) {
       m.file("/proc/driver/nvidia/version",
              "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar\n");
       m.machine.nvml_library = "libno-such-nvml.so";
     },
     {"problem cupti_newer_than_driver"},
     "up to 12.4",
     "pip install 'nvidia-cuda-cupti-cu12==12.4.*'"},
    {"the same with a CUPTI 12 in another place",
     [](PlantedMachine& m) {
       m.nvml("cuda=12040");
       m.variable("CUDA_PATH", "/opt/cuda-12.4");
       m.variable("CUDA_HOME", "/opt/cuda-13");
       m.file("/opt/cuda-13/lib64/libcupti.so.13");
       m.file("/opt/cuda-12.4/lib64/libcupti.so.12");
     },
     {"problem cupti_newer_than_driver"},
     "CUDA 13.0 is newer",
     "export CUDA_HOME=/opt/cuda-12.4"},
    {"a newer minor of the same major",
     [](PlantedMachine& m) { m.cuptis["/usr/local/cuda/lib64/libcupti.so.13"] = 130100; },
     {"warning cupti_newer_than_driver"},
     "13.1 is newer than the driver, which takes CUDA up to 13.0",
     "pip install 'nvidia-cuda-cupti-cu13==13.0.*'"},
    {"two majors",
     [](PlantedMachine& m) { m.file("/usr/lib/x86_64-linux-gnu/libcupti.so.12"); },
     {"warning cupti_two_majors"},
     "/usr/lib/x86_64-linux-gnu/libcupti.so.12 is on the library path",
     "gprof-ml doctor --pid $(pgrep -n PROGRAM)"},
    {"two majors, one of which CUDA_HOME may name",
     [](PlantedMachine& m) {
       m.variable("LD_LIBRARY_PATH", "/opt/cuda-12/lib64");
       m.file("/opt/cuda-12/lib64/libcupti.so.12");
     },
     {"warning cupti_two_majors"},
     "/opt/cuda-12/lib64/libcupti.so.12 is on the library path",
     "export CUDA_HOME=/opt/cuda-12"},
    {"a wheel with a CUPTI of its own",
     [](PlantedMachine& m) {
       m.variable("VIRTUAL_ENV", "/venv");
       m.file("/usr/lib/x86_64-linux-gnu/libcudart.so.13");
       m.file("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcudart.so.13");
       m.file("/venv/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13");
     },
     {"note cupti_of_other_runtime"},
     "/venv/lib/python3.11",
     nullptr},
    // permission
    {"counters for administrators only",
     [](PlantedMachine& m) { m.file("/proc/driver/nvidia/params", kAdminOnly); },
     {"warning counters_admin_only"},
     "RmProfilingAdminOnly: 1",
     "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
     "/etc/modprobe.d/nvidia-profiling.conf && sudo update-initramfs -u && sudo reboot"},
    {"counters for administrators only, who is one",
     [](PlantedMachine& m) {
       m.file("/proc/driver/nvidia/params", kAdminOnly);
       m.file("/proc/self/status", "CapEff:\t0000000000200000\n");
     },
     {},
     nullptr,
     nullptr},
    {"counters with CAP_PERFMON alone",
     [](PlantedMachine& m) {
       m.file("/proc/driver/nvidia/params", kAdminOnly);
       m.file("/proc/self/status", "CapEff:\t0000004000000000\n");
     },
     {},
     nullptr,
     nullptr},
    {"counters in a container",
     [](PlantedMachine& m) {
       m.file("/proc/driver/nvidia/params", kAdminOnly);
       m.file("/run/.containerenv");
     },
     {"warning counters_admin_only", "note container"},
     "capabilities: CAP_SYS_ADMIN no, CAP_PERFMON no",
     nullptr},
    {"who may use counters cannot be read",
     [](PlantedMachine& m) { m.remove("/proc/driver/nvidia/params"); },
     {"note counters_unknown"},
     "cannot be read",
     "cat /proc/driver/nvidia/params"},
    {"ptrace for administrators only",
     [](PlantedMachine& m) { m.file("/proc/sys/kernel/yama/ptrace_scope", "3\n"); },
     {"note ptrace_restricted"},
     "ptrace_scope is 3",
     "sudo sysctl kernel.yama.ptrace_scope=1"},
    {"perf events do not matter",
     [](PlantedMachine& m) { m.file("/proc/sys/kernel/perf_event_paranoid", "4\n"); },
     {},
     nullptr,
     nullptr},
    // sharing
    {"MIG by NVML",
     [](PlantedMachine& m) { m.nvml("mig=1"); },
     {"warning mig"},
     "MIG",
     "export CUDA_VISIBLE_DEVICES=$(nvidia-smi -L | grep -o 'MIG-[0-9a-f-]*' | head -n 1)"},
    {"MIG by its instances",
     [](PlantedMachine& m) {
       m.machine.nvml_library = "libno-such-nvml.so";
       m.file("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access");
     },
     {"warning mig"},
     "MIG",
     "export CUDA_VISIBLE_DEVICES=$(nvidia-smi -L | grep -o 'MIG-[0-9a-f-]*' | head -n 1)"},
    {"MIG that could be but is not",
     [](PlantedMachine& m) { m.file("/proc/driver/nvidia/capabilities/mig/config"); },
     {},
     nullptr,
     nullptr},
    {"MPS by its process",
     [](PlantedMachine& m) { m.process(40, "nvidia-cuda-mps"); },
     {"warning mps"},
     "MPS",
     "echo quit | nvidia-cuda-mps-control"},
    {"MPS by its pipe",
     [](PlantedMachine& m) {
       m.variable("CUDA_MPS_PIPE_DIRECTORY", "/mps");
       m.file("/mps/control");
     },
     {"warning mps"},
     "MPS",
     "echo quit | nvidia-cuda-mps-control"},
    {"MPS that is not there",
     [](PlantedMachine& m) { m.variable("CUDA_MPS_PIPE_DIRECTORY", "/mps"); },
     {"warning mps_unreachable"},
     "/mps, where no MPS listens",
     "unset CUDA_MPS_PIPE_DIRECTORY"},
    {"vGPU",
     [](PlantedMachine& m) { m.nvml("virtualisation=2"); },
     {"warning vgpu"},
     "vGPU",
     "echo enable_profiling=1 | sudo tee /sys/bus/mdev/devices/UUID/nvidia/vgpu_params"},
    {"a GPU passed through is a whole one",
     [](PlantedMachine& m) { m.nvml("virtualisation=1"); },
     {},
     nullptr,
     nullptr},
    {"confidential computing",
     [](PlantedMachine& m) { m.nvml("confidential=1"); },
     {"problem confidential"},
     "CUPTI refuses",
     "sudo python3 nvidia_gpu_tools.py --gpu 0 --set-cc-mode=devtools "
     "--reset-after-cc-mode-switch"},
    {"confidential computing for tools",
     [](PlantedMachine& m) { m.nvml("confidential=1 devtools=1"); },
     {"note confidential_devtools"},
     "mode for tools",
     nullptr},
    // tools
    {"DCGM",
     [](PlantedMachine& m) { m.process(70, "nv-hostengine"); },
     {"warning dcgm"},
     "nv-hostengine (pid 70)",
     "dcgmi profile --pause"},
    {"nsys",
     [](PlantedMachine& m) { m.process(71, "nsys"); },
     {"warning nsys"},
     "pid 71",
     "nsys shutdown --kill none"},
    {"ncu", [](PlantedMachine& m) { m.process(72, "ncu"); }, {"warning ncu"}, "pid 72", "kill 72"},
    {"cuda-gdb",
     [](PlantedMachine& m) { m.process(73, "cuda-gdb"); },
     {"warning cuda_gdb"},
     "pid 73",
     "kill 73"},
    {"compute-sanitizer",
     [](PlantedMachine& m) { m.process(74, "compute-sanitiz"); },
     {"warning compute_sanitizer"},
     "pid 74",
     "kill 74"},
    {"Kineto's daemon",
     [](PlantedMachine& m) { m.process(75, "dynolog"); },
     {"warning kineto_daemon"},
     "pid 75",
     "unset KINETO_USE_DAEMON"},
    {"Kineto's variable",
     [](PlantedMachine& m) { m.variable("KINETO_USE_DAEMON", "1"); },
     {"warning kineto_daemon_variable"},
     "KINETO_USE_DAEMON is set",
     "unset KINETO_USE_DAEMON"},
    {"another tool's library for CUDA",
     [](PlantedMachine& m) {
       m.variable("CUDA_INJECTION64_PATH", "/opt/nsys/libToolsInjection64.so");
     },
     {"problem cuda_variable_taken"},
     "/opt/nsys/libToolsInjection64.so",
     "unset CUDA_INJECTION64_PATH"},
    {"another tool's library for NVTX",
     [](PlantedMachine& m) { m.variable("NVTX_INJECTION64_PATH", "/usr/lib/libcupti.so"); },
     {"warning nvtx_variable_taken"},
     "/usr/lib/libcupti.so",
     "unset NVTX_INJECTION64_PATH"},
    {"our own library",
     [](PlantedMachine& m) { m.variable("CUDA_INJECTION64_PATH", "/x/libgprofml_injection.so"); },
     {},
     nullptr,
     nullptr},
    {"inside nsys",
     [](PlantedMachine& m) { m.variable("NSYS_PROFILING_SESSION_ID", "4"); },
     {"problem inside_nsys"},
     "inside nsys",
     "exit"},
    {"a variable of CUPTI",
     [](PlantedMachine& m) { m.variable("CUPTI_ENABLE_HW_TRACE", "1"); },
     {"note cupti_variable"},
     "CUPTI_ENABLE_HW_TRACE=1",
     "unset CUPTI_ENABLE_HW_TRACE"},
    // disk
    {"a folder that cannot be written to",
     [](PlantedMachine& m) { m.folders["/data"] = kReadOnly; },
     {"problem output_not_writable"},
     "/data: cannot be written to",
     "gprof-ml run -o /path/with/room/run.db -- PROGRAM"},
    {"no such folder",
     [](PlantedMachine& m) { m.folders["/data"] = kMissing; },
     {"problem output_not_writable"},
     "/data: there is no such folder",
     "gprof-ml run -o /path/with/room/run.db -- PROGRAM"},
    {"a full disk",
     [](PlantedMachine& m) { m.folders["/data"] = kFull; },
     {"problem output_full"},
     "only 0 MiB are free",
     "gprof-ml run -o /path/with/room/run.db -- PROGRAM"},
    {"a disk that is nearly full",
     [](PlantedMachine& m) { m.folders["/data"] = kTight; },
     {"warning output_full"},
     "only 300 MiB are free",
     "gprof-ml run -o /path/with/room/run.db -- PROGRAM"},
    {"no folder for temporary files",
     [](PlantedMachine& m) {
       m.variable("TMPDIR", "/scratch");
       m.folders["/scratch"] = kMissing;
     },
     {"warning temporary_not_writable"},
     "/scratch",
     "export TMPDIR=/path/with/room"},
    {"little shared memory",
     [](PlantedMachine& m) { m.folders["/dev/shm"] = kDockerShm; },
     {"note shared_memory_small"},
     "64 MiB",
     "sudo mount -o remount,size=8G /dev/shm"},
};

}  // namespace

TEST_CASE("A healthy machine has nothing to repair", "[doctor]") {
  const PlantedMachine machine(FAKE_NVML_LIBRARY);
  const Findings findings = machine.findings();
  CHECK(not_ok(findings).empty());
  CHECK(verdict_of(findings) == "GPU work can be recorded here.");
  CHECK(finding_of(findings, "ok driver").text ==
        "driver 580.95.05, takes CUDA up to 13.0; NVIDIA H100");
  for (const Finding& finding : findings) CHECK(finding.repair.empty());
}

TEST_CASE("Each finding is seen where it is true, and only there", "[doctor]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    PlantedMachine machine(FAKE_NVML_LIBRARY);
    row.plant(machine);
    const Findings findings = machine.findings();
    CHECK(not_ok(findings) == row.codes);
    if (row.text == nullptr) continue;
    Finding expected;
    for (const std::string& code : row.codes) {
      const Finding candidate = finding_of(findings, code);
      if (candidate.text.find(row.text) != std::string::npos) expected = candidate;
    }
    CHECK(!expected.text.empty());
    if (row.repair == nullptr) continue;
    REQUIRE(!expected.repair.empty());
    CHECK(expected.repair.front() == row.repair);
  }
}

TEST_CASE("What asks for something says what to do", "[doctor]") {
  for (const Row& row : kRows) {
    INFO(row.name);
    PlantedMachine machine(FAKE_NVML_LIBRARY);
    row.plant(machine);
    for (const Finding& finding : machine.findings()) {
      const bool asks = finding.level >= FindingLevel::warning && finding.code != "glibc_unknown";
      INFO(finding.code);
      CHECK((!asks || !finding.repair.empty()));
      CHECK(finding.text.find('\n') == std::string::npos);
    }
  }
}

TEST_CASE("The sentence on top names what stands against recording", "[doctor]") {
  const auto verdict = [](const std::function<void(PlantedMachine&)>& plant) {
    PlantedMachine machine(FAKE_NVML_LIBRARY);
    plant(machine);
    return verdict_of(machine.findings());
  };
  CHECK(verdict([](PlantedMachine& m) {
          m.machine.injection_library.clear();
        }).find("Nothing can be recorded") == 0);
  CHECK(verdict([](PlantedMachine& m) { m.without_driver(); }).find("No GPU work") == 0);
  CHECK(verdict([](PlantedMachine& m) {
          m.remove("/usr/local/cuda");
        }).find("GPU work is not recorded") == 0);
  CHECK(verdict([](PlantedMachine& m) { m.process(9, "nsys"); }) ==
        "GPU work can be recorded here, with 1 warning.");
}
