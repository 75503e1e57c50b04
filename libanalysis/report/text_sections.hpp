// The sections of the text report, each a string of whole lines or empty. Internal to report/.
#pragma once

#include <string>

#include "libanalysis/report/report.hpp"
#include "libanalysis/report/text.hpp"

namespace gprofml::analysis::detail {

/// `heading` as a heading: bold where colour is wanted.
std::string heading(const std::string& text, const TextOptions& options);

/// What was read: program, input, command, devices, length.
std::string title_section(const Report& report, const TextOptions& options);

/// `window`, `step` and `data`: what the figures rest on.
std::string window_section(const Report& report);
std::string step_section(const Report& report);
std::string data_section(const Report& report);

/// What requests took, and figures from the program's own output.
std::string serving_section(const Report& report);
std::string metric_section(const Report& report);

/// Where each device's time went; a sentence when no device did anything.
std::string device_sections(const Report& report, const TextOptions& options);

/// Critical path by class, the ranking where it differs, and with `path` every segment.
std::string path_section(const Report& report, const TextOptions& options);
std::string ranking_section(const Report& report);
std::string segment_section(const Report& report, const TextOptions& options);

/// The heaviest kernels and ops.
std::string kernel_section(const Report& report, const TextOptions& options);
std::string op_section(const Report& report, const TextOptions& options);

/// How a device is called in this report: "GPU 0", with host or process where that is ambiguous.
std::string device_label(const Report& report, const DeviceReport& device);

/// Steps that the chosen window holds when it was chosen by steps; else 0.
std::int64_t steps_in_window(const Report& report);

}  // namespace gprofml::analysis::detail
