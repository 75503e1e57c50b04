#include "libprofile/capture/machine/nvml_library.hpp"

#include <dlfcn.h>

namespace gprofml::profile {
namespace {

template <typename Function>
void find(void* handle, const char* name, Function& function) {
  if (function == nullptr) function = reinterpret_cast<Function>(dlsym(handle, name));
}

}  // namespace

NvmlLibrary::NvmlLibrary(const std::string& name)
    : handle_(dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
  if (handle_ == nullptr) return;
  int (*init)() = nullptr;
  find(handle_, "nvmlInit_v2", init);
  find(handle_, "nvmlDeviceGetCount_v2", device_count);
  find(handle_, "nvmlDeviceGetHandleByIndex_v2", device_by_index);
  find(handle_, "nvmlDeviceGetUUID", uuid);
  find(handle_, "nvmlDeviceGetClockInfo", clock);
  find(handle_, "nvmlDeviceGetPowerUsage", power_mw);
  find(handle_, "nvmlDeviceGetTemperature", temperature);
  find(handle_, "nvmlDeviceGetCurrentClocksEventReasons", throttle_reasons);
  find(handle_, "nvmlDeviceGetCurrentClocksThrottleReasons", throttle_reasons);  // before 535
  find(handle_, "nvmlDeviceGetMemoryInfo", memory);
  find(handle_, "nvmlDeviceGetUtilizationRates", utilization);
  find(handle_, "nvmlDeviceGetComputeRunningProcesses_v3", compute_processes);
  works_ = init != nullptr && device_count != nullptr && device_by_index != nullptr &&
           uuid != nullptr && init() == 0;
}

NvmlLibrary::~NvmlLibrary() {
  if (handle_ == nullptr) return;
  int (*shutdown)() = nullptr;
  find(handle_, "nvmlShutdown", shutdown);
  if (works_ && shutdown != nullptr) shutdown();
  dlclose(handle_);
}

}  // namespace gprofml::profile
