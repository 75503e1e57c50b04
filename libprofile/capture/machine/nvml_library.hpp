// NVML as a table of functions, opened where the driver has put it and never linked. No header of
// NVIDIA's is needed: the functions have kept their form since CUDA 11.
#pragma once

#include <string>

namespace gprofml::profile {

inline constexpr char kNvmlName[] = "libnvidia-ml.so.1";

/// The functions that are used; a null one is missing in this driver, and what it tells stays
/// unknown. All return 0 when they have done it.
class NvmlLibrary {
 public:
  using Device = void*;
  struct Memory {
    unsigned long long total, available, used;
  };
  struct Utilization {
    unsigned gpu, memory;
  };
  struct ProcessInfo {
    unsigned pid;
    unsigned long long memory_bytes;
    unsigned gpu_instance, compute_instance;
  };
  static constexpr unsigned kSmClock = 1;
  static constexpr unsigned kMemoryClock = 2;

  /// Opens and initialises it.
  explicit NvmlLibrary(const std::string& name = kNvmlName);
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;
  ~NvmlLibrary();

  bool works() const { return works_; }

  int (*device_count)(unsigned*) = nullptr;
  int (*device_by_index)(unsigned, Device*) = nullptr;
  int (*uuid)(Device, char*, unsigned) = nullptr;
  int (*clock)(Device, unsigned, unsigned*) = nullptr;
  int (*power_mw)(Device, unsigned*) = nullptr;
  int (*temperature)(Device, unsigned, unsigned*) = nullptr;
  int (*throttle_reasons)(Device, unsigned long long*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*utilization)(Device, Utilization*) = nullptr;
  int (*compute_processes)(Device, unsigned*, ProcessInfo*) = nullptr;

 private:
  void* handle_ = nullptr;
  bool works_ = false;
};

}  // namespace gprofml::profile
