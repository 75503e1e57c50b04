// The heaviest kernels and ops.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/text_sections.hpp"

namespace gprofml::analysis::detail {
namespace {

std::size_t rows_to_show(std::size_t rows, int top) {
  return std::min(rows, static_cast<std::size_t>(std::max(top, 0)));
}

/// The kernel's device without "GPU ", for a narrow column.
std::string device_column(const Report& report, std::size_t row) {
  for (const DeviceReport& device : report.devices) {
    if (device.timeline.device == report.kernels[row].device) {
      return device_label(report, device).substr(4);
    }
  }
  const std::int64_t id = report.kernel_device_ids.at(row);
  return id == profile::kUnknown ? "?" : fmt::format("{}", id);
}

/// The shown kernels, then what is not shown, then the total; the printed figures add up.
class KernelTable {
 public:
  KernelTable(const Report& report, std::size_t shown)
      : report_(report), shown_(shown), several_devices_(report.devices.size() > 1) {
    for (std::size_t i = 0; i < report.kernels.size(); ++i) {
      const KernelStatistics& kernel = report.kernels[i];
      total_ns_ += kernel.total_ns;
      total_count_ += kernel.count;
      if (i < shown) {
        parts_ns_.push_back(kernel.total_ns);
        counts_.push_back(kernel.count);
        longest_mean_ns_ = std::max(longest_mean_ns_, mean_ns(kernel.total_ns, kernel.count));
      } else {
        rest_ns_ += kernel.total_ns;
        rest_count_ += kernel.count;
      }
    }
    parts_ns_.push_back(rest_ns_);
    counts_.push_back(rest_count_);
  }

  std::string text(const TextOptions& options) const {
    const TimeUnit unit = unit_for(total_ns_);
    const TimeUnit mean_unit = unit_for(longest_mean_ns_);
    const PrintScale share{1000, std::max<std::int64_t>(total_ns_, 1)};
    const std::int64_t total_units = to_units(total_ns_, unit.scale());
    const std::int64_t total_share = total_ns_ > 0 ? 1000 : 0;
    const std::vector<std::int64_t> units = apportion(parts_ns_, unit.scale(), total_units);
    const std::vector<std::int64_t> shares = apportion(parts_ns_, share, total_share);
    std::string out =
        heading(line("kernels, by total time", several_devices_ ? "GPU" : "", "count",
                     std::string(unit.name), "%", fmt::format("mean {}", mean_unit.name)),
                options) +
        "\n";
    const std::vector<std::string> labels = row_labels();
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::int64_t mean = mean_ns(parts_ns_[i], counts_[i]);
      const bool is_rest = i == shown_;
      out += line("  " + labels[i], several_devices_ && !is_rest ? device_column(report_, i) : "",
                  count_text(counts_[i]), fixed(units[i], unit.decimals), fixed(shares[i], 1),
                  fixed(to_units(mean, mean_unit.scale()), mean_unit.decimals)) +
             "\n";
    }
    out += line(
        "  total", "", count_text(total_count_), fixed(total_units, unit.decimals),
        fixed(total_share, 1),
        fixed(to_units(mean_ns(total_ns_, total_count_), mean_unit.scale()), mean_unit.decimals));
    return out + "\n";
  }

 private:
  static std::int64_t mean_ns(std::int64_t total_ns, std::int64_t count) {
    return count > 0 ? to_units(total_ns, {1, count}) : 0;
  }

  std::size_t name_width() const { return several_devices_ ? 30 : 40; }

  std::vector<std::string> row_labels() const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < shown_; ++i) names.push_back(report_.kernels[i].name);
    std::vector<std::string> labels = short_kernel_names(names, name_width() - 2);
    const std::size_t rest = report_.kernels.size() - shown_;
    if (rest > 0) labels.push_back(fmt::format("{} more", rest));
    return labels;
  }

  std::string line(const std::string& name, const std::string& device, const std::string& count,
                   const std::string& total, const std::string& share,
                   const std::string& mean) const {
    std::string out = pad_right(name, name_width());
    if (several_devices_) out += " " + pad_right(shorten_middle(device, 9), 9);
    return out + pad_left(count, 10) + pad_left(total, 11) + pad_left(share, 7) +
           pad_left(mean, 11);
  }

  const Report& report_;
  std::size_t shown_;
  bool several_devices_;
  std::int64_t total_ns_ = 0;
  std::int64_t total_count_ = 0;
  std::int64_t rest_ns_ = 0;
  std::int64_t rest_count_ = 0;
  std::int64_t longest_mean_ns_ = 0;
  std::vector<std::int64_t> parts_ns_;  ///< the shown rows, then the rest
  std::vector<std::int64_t> counts_;
};

/// The ops of one table: by GPU time as the report orders them, by host time without GPU work.
class OpTable {
 public:
  explicit OpTable(const std::vector<OpStatistics>& ops) {
    profile::Nanoseconds longest = 0;
    for (const OpStatistics& op : ops) {
      sources_[static_cast<std::size_t>(op.source)] = true;
      ops_.push_back(&op);
      has_gpu_work_ = has_gpu_work_ || op.kernels > 0;
      longest = std::max({longest, op.host_ns, op.device_ns});
    }
    unit_ = unit_for(longest);
    if (has_gpu_work_) return;
    std::stable_sort(ops_.begin(), ops_.end(), [](const OpStatistics* a, const OpStatistics* b) {
      return a->host_ns > b->host_ns;
    });
  }

  std::string text(std::size_t shown, const TextOptions& options) const {
    const std::string title =
        has_gpu_work_ ? "ops with all inside, by GPU time" : "ops with all inside, by host time";
    const std::string named =
        is_of(OpSource::kernel_family) ? "kernel families, by GPU time" : title;
    std::string out = heading(line(named, "count", fmt::format("host {}", unit_.name),
                                   fmt::format("GPU {}", unit_.name), "GPU work"),
                              options) +
                      "\n";
    out += names_note();
    for (std::size_t i = 0; i < shown; ++i) {
      const OpStatistics& op = *ops_[i];
      out += line("  " + shorten_path(printable(op.path), kNameWidth - 2), count_text(op.count),
                  time(op.host_ns), time(op.device_ns), count_text(op.kernels)) +
             "\n";
    }
    if (shown < ops_.size()) out += fmt::format("  {} more (--top)\n", ops_.size() - shown);
    return out;
  }

 private:
  static constexpr std::size_t kNameWidth = 40;

  bool is_of(OpSource source) const { return sources_[static_cast<std::size_t>(source)]; }

  /// What the names are, where they are not the program's ranges.
  std::string names_note() const {
    if (is_of(OpSource::kernel_family)) {
      return "  (no ranges and no call stacks were recorded: kinds of kernels, told by their\n"
             "  names; count: launches)\n";
    }
    if (!is_of(OpSource::call_stack)) return "";
    return is_of(OpSource::range)
               ? "  (host -: function names of call stacks, where no range is around a launch;\n"
                 "  count: launches)\n"
               : "  (by function names of call stacks, as there are no ranges; count: launches)\n";
  }

  std::string time(profile::Nanoseconds ns) const {
    if (ns == profile::kUnknown) return "-";
    return fixed(to_units(ns, unit_.scale()), unit_.decimals);
  }

  std::string line(const std::string& name, const std::string& count, const std::string& host,
                   const std::string& device, const std::string& kernels) const {
    std::string out = pad_right(name, kNameWidth) + pad_left(count, 9) + pad_left(host, 11);
    if (has_gpu_work_) out += pad_left(device, 11) + pad_left(kernels, 9);
    return out;
  }

  std::vector<const OpStatistics*> ops_;
  bool has_gpu_work_ = false;
  std::array<bool, 3> sources_{};
  TimeUnit unit_ = unit_for(0);
};

}  // namespace

std::string kernel_section(const Report& report, const TextOptions& options) {
  const std::size_t shown = rows_to_show(report.kernels.size(), options.top);
  if (shown == 0) return "";
  return KernelTable(report, shown).text(options);
}

std::string op_section(const Report& report, const TextOptions& options) {
  const std::size_t shown = rows_to_show(report.ops.size(), options.top);
  if (shown == 0) return "";
  return OpTable(report.ops).text(shown, options);
}

}  // namespace gprofml::analysis::detail
