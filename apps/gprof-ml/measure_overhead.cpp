#include "apps/gprof-ml/measure_overhead.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>

#include "libanalysis/report/quantity.hpp"

namespace gprofml::app {
namespace {

std::optional<profile::ProgramEnd> run_unrecorded(const std::vector<std::string>& command) {
  const profile::SignalRelay relay;
  profile::Program program(command, relay);
  if (program.start({}) != 0) return std::nullopt;
  return program.wait();
}

std::string why_stopped(const std::optional<profile::ProgramEnd>& end) {
  if (!end) return "the program could not be started";
  return end->signal != 0 ? fmt::format("a run was killed by signal {}", end->signal)
                          : fmt::format("a run exited with {}", end->exit_code);
}

std::string percent(double share) {
  return fmt::format("{:+.1f}", 100 * share);
}

}  // namespace

MeasuredOverhead measure_overhead(
    const std::vector<std::string>& command, unsigned pairs,
    const std::function<std::optional<profile::ProgramEnd>()>& record) {
  MeasuredOverhead measured;
  profile::RunPair pair;
  for (std::size_t run = 0; run < 2 * std::size_t{pairs}; ++run) {
    ::lseek(STDIN_FILENO, 0, SEEK_SET);  // fails where there is nothing to set back
    const bool recorded = profile::is_recorded_run(run);
    const std::optional<profile::ProgramEnd> end = recorded ? record() : run_unrecorded(command);
    if (!end || end->code() != 0) {
      measured.stopped = why_stopped(end);
      return measured;
    }
    (recorded ? pair.with_ns : pair.without_ns) = end->wall_ns;
    if (run % 2 == 1) measured.pairs.push_back(pair);
  }
  return measured;
}

std::string overhead_text(const MeasuredOverhead& measured) {
  std::string text;
  if (!measured.pairs.empty()) {
    const profile::PairedOverhead overhead = profile::paired_overhead(measured.pairs);
    const std::string interval = overhead.interval
                                     ? fmt::format(" [{}, {}]", percent(overhead.interval->low),
                                                   percent(overhead.interval->high))
                                     : " (one pair: no interval)";
    text = fmt::format(
        "{} %{} of wall time, measured: {} without, {} with (medians of {} pair{} of "
        "runs in turns{})",
        percent(overhead.estimate), interval, analysis::duration_text(overhead.without_median_ns),
        analysis::duration_text(overhead.with_median_ns), measured.pairs.size(),
        measured.pairs.size() == 1 ? "" : "s", overhead.interval ? "; 95 % interval" : "");
  }
  if (!measured.stopped.empty()) {
    text += (text.empty() ? "not measured: " : "; the series ended early: ") + measured.stopped;
  }
  return text;
}

std::map<std::string, std::string> overhead_meta(const MeasuredOverhead& measured) {
  if (measured.pairs.empty()) return {};
  const profile::PairedOverhead overhead = profile::paired_overhead(measured.pairs);
  const auto ppm = [](double share) { return std::to_string(std::llround(1e6 * share)); };
  std::map<std::string, std::string> meta{
      {"overhead_measured_ppm", ppm(overhead.estimate)},
      {"overhead_pairs", std::to_string(measured.pairs.size())},
      {"overhead_without_median_ns", std::to_string(overhead.without_median_ns)},
      {"overhead_with_median_ns", std::to_string(overhead.with_median_ns)}};
  if (overhead.interval) {
    meta["overhead_low_ppm"] = ppm(overhead.interval->low);
    meta["overhead_high_ppm"] = ppm(overhead.interval->high);
  }
  return meta;
}

}  // namespace gprofml::app
