// Names as people and other tools write them.
#pragma once

#include <string>
#include <string_view>

namespace gprofml::profile {

/// A kernel's name with its signature, as Kineto shows it; what is no mangled C++ name stays.
std::string readable_kernel_name(const std::string& mangled);

/// A call's name without the version that CUPTI adds to runtime calls: cudaLaunchKernel_ptsz_v7000
/// is cudaLaunchKernel_ptsz. The driver's own versions (cuMemcpyHtoD_v2) are part of the name.
std::string_view readable_call_name(std::string_view name);

}  // namespace gprofml::profile
