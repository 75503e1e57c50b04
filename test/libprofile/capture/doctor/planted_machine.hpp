// A folder that looks like a machine to the doctor, and is healthy until a test plants something.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "libprofile/capture/doctor/examine.hpp"

namespace planted {

namespace fs = std::filesystem;

class PlantedMachine {
 public:
  gprofml::profile::Machine machine;
  std::map<std::string, gprofml::profile::FolderState> folders;  ///< else with much room
  std::map<std::string, std::uint32_t> cuptis;                   ///< versions by path

  /// `nvml_library`: the path of one that answers as nvml() plants.
  explicit PlantedMachine(const char* nvml_library) {
    char name[] = "/tmp/gprofml-doctor-XXXXXX";
    root_ = mkdtemp(name);
    machine.root = root_;
    machine.nvml_library = nvml_library;
    machine.output_folder = "/data";
    machine.injection_library = "/opt/gprof-ml/lib/libgprofml_injection.so";
    machine.glibc_version = "2.36";
    machine.folder_state = [this](const std::string& path) {
      const auto found = folders.find(path.substr(root_.size()));
      return found != folders.end() ? found->second
                                    : gprofml::profile::FolderState{true, true, 1ULL << 40U};
    };
    machine.cupti_version = [this](const std::string& path) {
      const auto found = cuptis.find(path.substr(root_.size()));
      return found != cuptis.end() ? found->second : 0U;
    };
    nvml("");
    file("/etc/os-release", "ID=debian\n");
    file("/proc/driver/nvidia/version",
         "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n");
    file("/proc/driver/nvidia/params", "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\n");
    file("/proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
    file("/proc/1/cgroup", "0::/\n");
    file("/proc/1/comm", "systemd\n");
    file("/dev/nvidia0");
    file("/dev/nvidiactl");
    file("/lib/x86_64-linux-gnu/libcuda.so.1");
    file("/usr/local/cuda/lib64/libcupti.so.13");
    cuptis["/usr/local/cuda/lib64/libcupti.so.13"] = 130001;
  }
  PlantedMachine(const PlantedMachine&) = delete;
  PlantedMachine& operator=(const PlantedMachine&) = delete;
  ~PlantedMachine() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  void file(const std::string& path, const std::string& text = "") const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary) << text;
  }
  void remove(const std::string& path) const { fs::remove_all(root_ + path); }
  void process(int pid, const std::string& name) const {
    file("/proc/" + std::to_string(pid) + "/comm", name + "\n");
  }
  /// What the fake NVML answers (fake_nvml.c).
  static void nvml(const std::string& words) { setenv("FAKE_NVML", words.c_str(), 1); }
  void variable(const std::string& name, const std::string& value) {
    machine.environment[name] = value;
  }
  void without_driver() const {
    for (const char* const path : {"/proc/driver/nvidia", "/dev/nvidia0", "/dev/nvidiactl",
                                   "/lib/x86_64-linux-gnu/libcuda.so.1"}) {
      remove(path);
    }
    nvml("init=9");
  }
  gprofml::profile::Findings findings() const { return gprofml::profile::examine(machine); }

 private:
  std::string root_;
};

}  // namespace planted
