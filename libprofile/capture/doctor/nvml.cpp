#include "libprofile/capture/doctor/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

namespace gprofml::profile {
namespace {

using Device = void*;
constexpr int kSuccess = 0;
constexpr unsigned kMostDevices = 64;

/// nvmlConfComputeSystemState_t.
struct ConfidentialState {
  unsigned environment;
  unsigned feature;
  unsigned devtools_mode;
};

class Library {
 public:
  explicit Library(const std::string& name)
      : handle_(dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      const char* const why = dlerror();
      why_not_ = why != nullptr ? why : "cannot be opened";
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  bool is_open() const { return handle_ != nullptr; }
  const std::string& why_not() const { return why_not_; }

  /// Calls a function of NVML; false when it is missing or fails.
  template <typename... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    return result(name, arguments...) == kSuccess;
  }
  template <typename... Arguments>
  int result(const char* name, Arguments... arguments) const {
    constexpr int kMissing = -1;
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    return function == nullptr ? kMissing : function(arguments...);
  }
  std::string text_of(int error) const {
    const auto function = reinterpret_cast<const char* (*)(int)>(dlsym(handle_, "nvmlErrorString"));
    const char* const text = function == nullptr ? nullptr : function(error);
    return text != nullptr ? text : fmt::format("error {}", error);
  }

 private:
  void* handle_;
  std::string why_not_;
};

Virtualisation virtualisation_of(unsigned mode) {
  switch (mode) {
    case 0:
      return Virtualisation::none;
    case 1:
      return Virtualisation::passthrough;
    case 2:
      return Virtualisation::vgpu;
    case 3:
    case 4:
      return Virtualisation::vgpu_host;
    default:
      return Virtualisation::unknown;
  }
}

NvmlDevice device_facts(const Library& nvml, Device device) {
  NvmlDevice facts;
  char name[96] = {};
  if (nvml.call("nvmlDeviceGetName", device, static_cast<char*>(name), 96U)) facts.name = name;
  unsigned current = 0;
  unsigned pending = 0;
  if (nvml.call("nvmlDeviceGetMigMode", device, &current, &pending)) {
    facts.is_mig_enabled = current == 1;
  }
  unsigned mode = 0;
  if (nvml.call("nvmlDeviceGetVirtualizationMode", device, &mode)) {
    facts.virtualisation = virtualisation_of(mode);
  }
  return facts;
}

void ask(const Library& nvml, NvmlFacts& facts) {
  char driver[96] = {};
  if (nvml.call("nvmlSystemGetDriverVersion", static_cast<char*>(driver), 96U)) {
    facts.driver = driver;
  }
  if (!nvml.call("nvmlSystemGetCudaDriverVersion_v2", &facts.cuda_version)) facts.cuda_version = 0;
  ConfidentialState state{};
  if (nvml.call("nvmlSystemGetConfComputeState", &state)) {
    facts.is_confidential = state.feature == 1;
    facts.has_devtools_mode = state.devtools_mode == 1;
  }
  unsigned count = 0;
  if (!nvml.call("nvmlDeviceGetCount_v2", &count)) return;
  for (unsigned i = 0; i < count && i < kMostDevices; ++i) {
    Device device = nullptr;
    if (!nvml.call("nvmlDeviceGetHandleByIndex_v2", i, &device)) continue;
    facts.devices.push_back(device_facts(nvml, device));
  }
}

}  // namespace

NvmlFacts ask_nvml(const std::string& library) {
  NvmlFacts facts;
  const Library nvml(library);
  facts.is_loaded = nvml.is_open();
  facts.why_not = nvml.why_not();
  if (!facts.is_loaded) return facts;
  const int started = nvml.result("nvmlInit_v2");
  if (started != kSuccess) {
    facts.why_not = started < 0 ? "nvmlInit_v2 is missing" : nvml.text_of(started);
    return facts;
  }
  ask(nvml, facts);
  nvml.call("nvmlShutdown");
  return facts;
}

}  // namespace gprofml::profile
