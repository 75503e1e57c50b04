#include "libprofile/capture/machine/machine_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace gprofml::profile {
namespace {

constexpr std::int64_t kLeastPercent = 5;              // below that it is what machines do
constexpr Nanoseconds kLeastRunnableNs = 100'000'000;  // and a short program has no rest to judge
constexpr std::string_view kOwnThreads = "gprof-ml";

std::int64_t percent(std::int64_t part, std::int64_t whole) {
  return whole <= 0 ? 0 : (part * 100 + whole / 2) / whole;
}

/// From a thread's first sample to its last: what was before is not of the recording.
struct Span {
  std::size_t first, last;
};

std::string waiting_threads(const Trace& trace) {
  const ThreadSampleColumns& samples = trace.thread_samples;
  std::map<RowIndex, Span> spans;
  std::set<std::int64_t> cpus;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples.on_cpu_ns[i] == kUnknown || samples.runnable_ns[i] == kUnknown) continue;
    const auto name = trace.text(trace.threads[samples.thread[i]].name);
    if (name.substr(0, kOwnThreads.size()) == kOwnThreads) continue;
    auto [at, is_new] = spans.emplace(samples.thread[i], Span{i, i});
    if (samples.time_ns[i] < samples.time_ns[at->second.first]) at->second.first = i;
    if (samples.time_ns[i] >= samples.time_ns[at->second.last]) at->second.last = i;
    if (samples.last_cpu[i] != kUnknown) cpus.insert(samples.last_cpu[i]);
  }
  std::int64_t on_cpu = 0, runnable = 0;
  for (const auto& [thread, span] : spans) {
    on_cpu += samples.on_cpu_ns[span.last] - samples.on_cpu_ns[span.first];
    runnable += samples.runnable_ns[span.last] - samples.runnable_ns[span.first];
  }
  const std::int64_t share = percent(runnable, on_cpu + runnable);
  if (share < kLeastPercent || runnable < kLeastRunnableNs) return {};
  return fmt::format(
      "the host threads waited for a CPU {} % of the time that they could have run ({} threads on "
      "{} "
      "CPU{}): use fewer threads, or give the program more CPUs",
      share, spans.size(), cpus.size(), cpus.size() == 1 ? "" : "s");
}

/// NVML's bits of reasons that somebody can do something about.
constexpr std::int64_t kPowerCap = 0x4, kHeat = 0x20 | 0x40, kPowerBrake = 0x8 | 0x80;

std::string gpu_name(const Trace& trace, RowIndex device) {
  const std::int64_t ordinal = trace.devices[device].ordinal;
  return ordinal == kUnknown ? "a GPU" : fmt::format("GPU {}", ordinal);
}

class GpuSamples {
 public:
  GpuSamples(const Trace& trace, RowIndex device) : trace_(trace), device_(device) {
    const GpuSampleColumns& all = trace.gpu_samples;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all.device[i] != device) continue;
      if (all.throttle_reasons[i] != kUnknown) {
        ++told_;
        for (auto& [bits, count] : held_down_) count += (all.throttle_reasons[i] & bits) != 0;
      }
      foreign_ = std::max(foreign_, all.foreign_processes[i]);
    }
  }

  void add_to(std::vector<std::string>& doubts) const {
    constexpr std::pair<std::int64_t, const char*> kReasons[] = {
        {kPowerCap, "its power limit"}, {kHeat, "heat"}, {kPowerBrake, "the power supply"}};
    for (const auto& [bits, why] : kReasons) {
      const std::int64_t share = percent(held_down_.at(bits), told_);
      if (share < kLeastPercent) continue;
      doubts.push_back(fmt::format("the clock of {} was held down by {} in {} % of the samples",
                                   gpu_name(trace_, device_), why, share));
    }
    if (foreign_ <= 0) return;
    doubts.push_back(
        fmt::format("{} other process{} used {}: its times are not this program's alone", foreign_,
                    foreign_ == 1 ? "" : "es", gpu_name(trace_, device_)));
  }

 private:
  const Trace& trace_;
  RowIndex device_;
  std::int64_t told_ = 0;
  std::map<std::int64_t, std::int64_t> held_down_ = {{kPowerCap, 0}, {kHeat, 0}, {kPowerBrake, 0}};
  std::int64_t foreign_ = kUnknown;
};

}  // namespace

std::vector<std::string> machine_doubts(const Trace& trace) {
  std::vector<std::string> doubts;
  std::string waiting = waiting_threads(trace);
  if (!waiting.empty()) doubts.push_back(std::move(waiting));
  const auto& devices = trace.gpu_samples.device;
  for (const RowIndex device : std::set<RowIndex>(devices.begin(), devices.end())) {
    GpuSamples(trace, device).add_to(doubts);
  }
  return doubts;
}

}  // namespace gprofml::profile
