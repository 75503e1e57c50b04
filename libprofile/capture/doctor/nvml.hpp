// What NVML tells of the driver and its GPUs, without CUDA and without its headers: the library is
// opened for the question and its answers are copied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gprofml::profile {

enum class Virtualisation : std::uint8_t { none, passthrough, vgpu, vgpu_host, unknown };

struct NvmlDevice {
  std::string name;
  bool is_mig_enabled = false;
  Virtualisation virtualisation = Virtualisation::unknown;
};

struct NvmlFacts {
  bool is_loaded = false;  ///< the library could be opened
  std::string why_not;     ///< what its opening or its nvmlInit_v2 said; empty: it works
  std::string driver;      ///< "580.95.05"
  int cuda_version = 0;    ///< newest that the driver takes: 13000 for 13.0; 0: unknown
  bool is_confidential = false;
  bool has_devtools_mode = false;  ///< confidential, but tools may profile
  std::vector<NvmlDevice> devices;
};

/// Asks the NVML of that name or path. Functions that it lacks leave their facts unknown.
NvmlFacts ask_nvml(const std::string& library);

}  // namespace gprofml::profile
