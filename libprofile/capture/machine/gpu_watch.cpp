#include "libprofile/capture/machine/gpu_watch.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gprofml::profile {
namespace {

constexpr unsigned kMostGpus = 64;
/// Listing processes takes a driver milliseconds, and they come and go slowly.
constexpr std::uint32_t kLooksBetweenLists = 10;
constexpr std::int32_t kNotTold32 = -1;

std::int32_t as_signed(unsigned value) {
  constexpr unsigned kMost = std::numeric_limits<std::int32_t>::max();
  return value > kMost ? kNotTold32 : static_cast<std::int32_t>(value);
}

/// What a function of the form f(device, arguments..., unsigned*) says.
template <typename Function, typename... Arguments>
std::int32_t told(Function function, Arguments... arguments) {
  unsigned value = 0;
  return function != nullptr && function(arguments..., &value) == 0 ? as_signed(value) : kNotTold32;
}

}  // namespace

GpuWatch::GpuWatch(const std::string& library) : nvml_(library) {
  unsigned count = 0;
  if (!nvml_.works() || nvml_.device_count(&count) != 0) return;
  for (unsigned i = 0; i < std::min(count, kMostGpus); ++i) {
    Gpu gpu{};
    std::array<char, 96> uuid{};
    if (nvml_.device_by_index(i, &gpu.device) != 0 ||
        nvml_.uuid(gpu.device, uuid.data(), uuid.size() - 1) != 0) {
      continue;  // taken from us, or lost
    }
    gpus_.push_back(gpu);
    uuids_.emplace_back(uuid.data());
  }
}

void GpuWatch::list_processes(Gpu& gpu) {
  std::array<NvmlLibrary::ProcessInfo, 128> processes;
  auto count = static_cast<unsigned>(processes.size());
  gpu.lists_pids = nvml_.compute_processes != nullptr &&
                   nvml_.compute_processes(gpu.device, &count, processes.data()) == 0 &&
                   count <= processes.size();
  gpu.pids.clear();
  if (!gpu.lists_pids) return;
  for (unsigned i = 0; i < count; ++i) gpu.pids.push_back(processes[i].pid);
}

spool::GpuSample GpuWatch::measure(const Gpu& gpu) const {
  spool::GpuSample sample{};
  sample.sm_clock_mhz = told(nvml_.clock, gpu.device, NvmlLibrary::kSmClock);
  sample.memory_clock_mhz = told(nvml_.clock, gpu.device, NvmlLibrary::kMemoryClock);
  sample.power_mw = told(nvml_.power_mw, gpu.device);
  sample.temperature_c = told(nvml_.temperature, gpu.device, 0u);
  unsigned long long reasons = 0;
  sample.throttle_reasons =
      nvml_.throttle_reasons != nullptr && nvml_.throttle_reasons(gpu.device, &reasons) == 0
          ? static_cast<std::int64_t>(reasons)
          : spool::kNotTold;
  NvmlLibrary::Memory memory{};
  sample.memory_used_bytes = nvml_.memory != nullptr && nvml_.memory(gpu.device, &memory) == 0
                                 ? static_cast<std::int64_t>(memory.used)
                                 : spool::kNotTold;
  NvmlLibrary::Utilization busy{};
  sample.busy_percent = nvml_.utilization != nullptr && nvml_.utilization(gpu.device, &busy) == 0
                            ? as_signed(busy.gpu)
                            : kNotTold32;
  return sample;
}

std::vector<spool::GpuSample> GpuWatch::look(std::int64_t time_ns,
                                             const std::set<std::uint32_t>& recorded) {
  if (looks_++ % kLooksBetweenLists == 0) {
    for (Gpu& gpu : gpus_) list_processes(gpu);
  }
  const auto is_ours = [&](std::uint32_t pid) { return recorded.count(pid) != 0; };
  for (const Gpu& gpu : gpus_) {
    has_shown_ours_ = has_shown_ours_ || std::any_of(gpu.pids.begin(), gpu.pids.end(), is_ours);
  }
  std::vector<spool::GpuSample> samples;
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const Gpu& gpu = gpus_[i];
    spool::GpuSample sample = measure(gpu);
    sample.time_ns = time_ns;
    sample.gpu = static_cast<std::uint32_t>(i);
    const auto ours = std::count_if(gpu.pids.begin(), gpu.pids.end(), is_ours);
    sample.foreign_processes =
        gpu.lists_pids && has_shown_ours_
            ? static_cast<std::int32_t>(static_cast<std::ptrdiff_t>(gpu.pids.size()) - ours)
            : kNotTold32;
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace gprofml::profile
