#include "test/simgpu/engine/contention.hpp"

#include <algorithm>

namespace gprofml::simgpu {

std::int64_t end_among_others(Device& device, std::int64_t start_ns, std::int64_t end_ns) {
  const int permille = model().contention_permille;
  if (permille == 0) {
    return end_ns;
  }
  auto& kernels = device.kernels;
  // Nothing that is submitted from now on by this thread starts before now.
  kernels.erase(std::remove_if(kernels.begin(), kernels.end(),
                               [](const auto& kernel) { return kernel.second <= now_ns(); }),
                kernels.end());
  const auto others = std::count_if(kernels.begin(), kernels.end(), [start_ns](const auto& kernel) {
    return kernel.first <= start_ns && start_ns < kernel.second;
  });
  const std::int64_t later_ns = end_ns + (end_ns - start_ns) * permille * others / 1000;
  kernels.emplace_back(start_ns, later_ns);
  return later_ns;
}

}  // namespace gprofml::simgpu
