// Where each device's time went: busy, exposed, idle and why.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/text_sections.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis::detail {
namespace {

constexpr std::size_t kLabelWidth = 44;  // label and bar, or an indented cause
constexpr std::size_t kBarAt = 24;
constexpr std::int64_t kBarLength = 20;  // of 100 %
constexpr std::size_t kMaxWholeTables = 4;

/// What one table divides: times, shares and, where the window is one of steps, times a step.
class DeviceTable {
 public:
  DeviceTable(const Report& report, const DeviceTimeline& time)
      : time_(time),
        window_ns_(report.window.to_ns - report.window.from_ns),
        steps_(steps_in_window(report)),
        unit_(unit_for(time.span_ns)),
        step_unit_(fine_unit_for(steps_ > 0 ? time.span_ns / steps_ : 0)) {}

  std::string header(const std::string& title) const {
    std::string line = pad_right(shorten_middle(title, kLabelWidth), kLabelWidth);
    line += pad_left(std::string(unit_.name), 10) + pad_left("%", 7);
    if (steps_ > 0) line += pad_left(fmt::format("{}/step", step_unit_.name), 12);
    return line;
  }

  std::string rows() const {
    const std::vector<std::int64_t> parts = {time_.compute_ns, time_.communication_exposed_ns,
                                             time_.copy_exposed_ns, time_.idle_ns};
    const Printed total = total_of(time_.span_ns);
    const std::vector<Printed> printed = split(parts, total);
    std::string out = row("compute kernels", parts[0], printed[0]);
    if (parts[1] > 0) out += row("exposed communication", parts[1], printed[1]);
    if (parts[2] > 0) out += row("exposed copies, fills", parts[2], printed[2]);
    out += row("idle", parts[3], printed[3]);
    out += cause_rows(printed[3]);
    const bool whole = time_.span_ns == window_ns_;
    return out + line(whole ? "  total" : "  total, from its first work to its last", total);
  }

 private:
  /// One row's figures in printed units.
  struct Printed {
    std::int64_t time = 0;
    std::int64_t share = 0;  ///< tenths of a percent of the span
    std::int64_t step = 0;
  };

  PrintScale share_scale() const { return {1000, std::max<std::int64_t>(time_.span_ns, 1)}; }
  PrintScale step_scale() const {
    return {1, step_unit_.quantum_ns * std::max<std::int64_t>(steps_, 1)};
  }

  Printed total_of(std::int64_t ns) const {
    return {to_units(ns, unit_.scale()), to_units(ns, share_scale()), to_units(ns, step_scale())};
  }

  std::vector<Printed> split(const std::vector<std::int64_t>& parts, const Printed& total) const {
    const std::vector<std::int64_t> times = apportion(parts, unit_.scale(), total.time);
    const std::vector<std::int64_t> shares = apportion(parts, share_scale(), total.share);
    const std::vector<std::int64_t> steps = apportion(parts, step_scale(), total.step);
    std::vector<Printed> out;
    for (std::size_t i = 0; i < parts.size(); ++i) out.push_back({times[i], shares[i], steps[i]});
    return out;
  }

  std::string line(const std::string& label, const Printed& printed) const {
    std::string out = pad_right(label, kLabelWidth);
    out += pad_left(fixed(printed.time, unit_.decimals), 10);
    out += pad_left(fixed(printed.share, 1), 7);
    if (steps_ > 0) out += pad_left(fixed(printed.step, step_unit_.decimals), 12);
    return out + "\n";
  }

  std::string row(const std::string& label, std::int64_t ns, const Printed& printed) const {
    const std::int64_t marks =
        ns == 0 ? 0 : std::max<std::int64_t>(1, to_units(ns, {kBarLength, time_.span_ns}));
    return line(pad_right("  " + label, kBarAt) + std::string(static_cast<std::size_t>(marks), '#'),
                printed);
  }

  /// The causes of idle time, the largest first, in parts of the printed idle row.
  std::string cause_rows(const Printed& idle) const {
    std::vector<TimeClass> causes;
    for (int i = 0; i < kTimeClassCount; ++i) {
      if (idle_ns(static_cast<TimeClass>(i)) > 0) causes.push_back(static_cast<TimeClass>(i));
    }
    std::stable_sort(causes.begin(), causes.end(),
                     [this](TimeClass a, TimeClass b) { return idle_ns(a) > idle_ns(b); });
    std::vector<std::int64_t> parts;
    for (const TimeClass cause : causes) parts.push_back(idle_ns(cause));
    const std::vector<Printed> printed = split(parts, idle);
    std::string out;
    for (std::size_t i = 0; i < causes.size(); ++i) {
      const Printed& figures = printed[i];
      const bool prints_a_step = steps_ > 0 && figures.step > 0;
      if (figures.time == 0 && figures.share == 0 && !prints_a_step) continue;
      out += line("    " + std::string(description_of(causes[i])), figures);
    }
    return out;
  }

  std::int64_t idle_ns(TimeClass cause) const {
    return time_.idle_by_cause[static_cast<std::size_t>(cause)];
  }

  const DeviceTimeline& time_;
  profile::Nanoseconds window_ns_;
  std::int64_t steps_;
  TimeUnit unit_;
  TimeUnit step_unit_;
};

/// What the rows above cannot show: work hidden behind other work, and corrections.
std::string beside(const DeviceTimeline& time) {
  std::string text;
  const auto add = [&text](const std::string& fact) { text += (text.empty() ? "" : ", ") + fact; };
  const profile::Nanoseconds communication =
      time.communication_union_ns - time.communication_exposed_ns;
  const profile::Nanoseconds memory = time.memory_union_ns - time.copy_exposed_ns;
  if (communication > 0) add("communication " + duration_text(communication));
  if (memory > 0) add("copies and fills " + duration_text(memory));
  std::string out;
  if (!text.empty()) out += wrap(text, "  hidden behind kernels: ", 4);
  if (time.busy_corrected_ns != time.busy_ns) {
    out += wrap(fmt::format("busy {} as recorded, {} with impossible overruns corrected",
                            duration_text(time.busy_ns), duration_text(time.busy_corrected_ns)),
                "  ", 4);
  }
  return out;
}

std::string whole_table(const Report& report, const DeviceReport& device,
                        const TextOptions& options) {
  const DeviceTable table(report, device.timeline);
  const std::string title = device_label(report, device) + ", where the time went";
  return heading(table.header(title), options) + "\n" + table.rows() + beside(device.timeline);
}

TimeClass largest_cause(const DeviceTimeline& time) {
  const auto largest = std::max_element(time.idle_by_cause.begin(), time.idle_by_cause.end());
  return static_cast<TimeClass>(largest - time.idle_by_cause.begin());
}

/// One line a device, for many of them.
std::string overview(const Report& report, const TextOptions& options) {
  profile::Nanoseconds longest = 0;
  for (const DeviceReport& device : report.devices) {
    longest = std::max(longest, device.timeline.span_ns);
  }
  const TimeUnit unit = unit_for(longest);
  std::string out = heading(pad_right("GPUs, where the time went", 26) +
                                pad_left(fmt::format("of {}", unit.name), 9) +
                                "  comp.%  comm.% copies%   idle%  mostly",
                            options) +
                    "\n";
  for (const DeviceReport& device : report.devices) {
    const DeviceTimeline& time = device.timeline;
    const std::vector<std::int64_t> shares = apportion(
        {time.compute_ns, time.communication_exposed_ns, time.copy_exposed_ns, time.idle_ns},
        {1000, std::max<std::int64_t>(time.span_ns, 1)}, time.span_ns > 0 ? 1000 : 0);
    out += pad_right("  " + shorten_middle(device_label(report, device), 22), 26);
    out += pad_left(fixed(to_units(time.span_ns, unit.scale()), unit.decimals), 9);
    for (const std::int64_t share : shares) out += pad_left(fixed(share, 1), 8);
    if (time.idle_ns > 0) out += "  " + std::string(name_of(largest_cause(time))).substr(0, 11);
    out += "\n";
  }
  return out;
}

std::string no_gpu_work(const Report& report) {
  const char* const where = report.window.is_whole() ? "trace" : "window";
  const std::int64_t calls = report.quality.calls;
  const std::string made = calls == 0 ? "no CUDA call is recorded either"
                                      : fmt::format("the host made {} CUDA call{}",
                                                    count_text(calls), calls == 1 ? "" : "s");
  const std::string text =
      fmt::format("No GPU work in this {}, so there is neither idle time nor a critical path; {}.",
                  where, made);
  return wrap(text, "", 0);
}

}  // namespace

std::string device_label(const Report& report, const DeviceReport& device) {
  const auto same_id = [&device](const DeviceReport& d) { return d.id == device.id; };
  const auto same_host = [&device](const DeviceReport& d) {
    return d.id == device.id && d.host == device.host;
  };
  std::string label = device.id == profile::kUnknown ? "GPU ?" : fmt::format("GPU {}", device.id);
  if (std::count_if(report.devices.begin(), report.devices.end(), same_id) < 2) return label;
  if (!device.host.empty()) label += " " + printable(device.host);
  if (std::count_if(report.devices.begin(), report.devices.end(), same_host) < 2) return label;
  if (!device.processes.empty() && device.processes.front() != profile::kUnknown) {
    return label + fmt::format(" pid {}", device.processes.front());
  }
  return device.uuid.empty() ? label : label + " " + printable(device.uuid);
}

std::string device_sections(const Report& report, const TextOptions& options) {
  if (report.devices.empty()) return no_gpu_work(report);
  if (report.devices.size() > kMaxWholeTables) return overview(report, options);
  std::string out;
  for (const DeviceReport& device : report.devices) {
    out += (out.empty() ? "" : "\n") + whole_table(report, device, options);
  }
  return out;
}

}  // namespace gprofml::analysis::detail
