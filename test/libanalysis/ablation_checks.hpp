// What every trace must keep, and what it must abstain from, when one kind of record is taken out.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string_view>

#include "test/libanalysis/analysis_support.hpp"
#include "test/synth/ablate.hpp"

namespace gprofml::test {

inline bool abstains(const analysis::Report& report, std::string_view missing) {
  return std::any_of(
      report.abstained.begin(), report.abstained.end(),
      [&](const analysis::Abstention& a) { return a.missing.find(missing) != std::string::npos; });
}

inline bool warns(const analysis::Report& report, std::string_view code) {
  return std::any_of(report.quality.warnings.begin(), report.quality.warnings.end(),
                     [&](const analysis::QualityWarning& w) { return w.code == code; });
}

/// Everything the GPU records alone decide.
inline void check_same_devices(const analysis::Report& a, const analysis::Report& b) {
  REQUIRE(a.devices.size() == b.devices.size());
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    const analysis::DeviceTimeline& x = a.devices[i].timeline;
    const analysis::DeviceTimeline& y = b.devices[i].timeline;
    CHECK(x.kernels == y.kernels);
    CHECK(x.copies == y.copies);
    CHECK(x.fills == y.fills);
    CHECK(x.kernel_ns == y.kernel_ns);
    CHECK(x.copy_ns == y.copy_ns);
    CHECK(x.fill_ns == y.fill_ns);
    CHECK(x.busy_ns == y.busy_ns);
    CHECK(x.kernel_union_ns == y.kernel_union_ns);
    CHECK(x.memory_union_ns == y.memory_union_ns);
    CHECK(x.communication_union_ns == y.communication_union_ns);
    CHECK(x.communication_exposed_ns == y.communication_exposed_ns);
    CHECK(x.copy_exposed_ns == y.copy_exposed_ns);
    CHECK(x.span_ns == y.span_ns);
    CHECK(x.idle_ns == y.idle_ns);
  }
  REQUIRE(a.kernels.size() == b.kernels.size());
  for (std::size_t i = 0; i < a.kernels.size(); ++i) {
    CHECK(a.kernels[i].name == b.kernels[i].name);
    CHECK(a.kernels[i].count == b.kernels[i].count);
    CHECK(a.kernels[i].total_ns == b.kernels[i].total_ns);
  }
}

inline void check_sums(const analysis::Report& report) {
  for (const analysis::DeviceReport& d : report.devices) {
    std::int64_t sum = 0;
    for (const std::int64_t ns : d.timeline.idle_by_cause) {
      CHECK(ns >= 0);
      sum += ns;
    }
    CHECK(sum == d.timeline.idle_ns);
  }
  CHECK(report.critical_path.segments_total_ns == report.critical_path.window_ns);
}

inline void check_without_calls(const profile::Trace& trace, const analysis::Report& whole) {
  INFO("without API records");
  const analysis::Report report = analyze_all(synth::without_api_calls(trace));
  check_sums(report);
  check_same_devices(whole, report);
  CHECK(report.quality.calls == 0);
  CHECK(report.quality.submissions == 0);
  CHECK(report.quality.linked == 0);
  for (const analysis::DeviceReport& d : report.devices) {
    // all idle time is cause 1
    CHECK(
        d.timeline.idle_by_cause[static_cast<std::size_t>(analysis::TimeClass::no_launch_record)] ==
        d.timeline.idle_ns);
  }
  if (!report.devices.empty()) {
    CHECK(abstains(report, "CUDA API calls"));
    CHECK(warns(report, "no_api_calls"));
  }
}

inline void check_without_syncs(const profile::Trace& trace, const analysis::Report& whole) {
  INFO("without synchronisation records");
  const analysis::Report report = analyze_all(synth::without_sync_records(trace));
  check_sums(report);
  check_same_devices(whole, report);
  CHECK(report.quality.calls == whole.quality.calls);
  CHECK(report.quality.submissions == whole.quality.submissions);
  CHECK(report.quality.linked == whole.quality.linked);
  CHECK(report.critical_path.window_ns == whole.critical_path.window_ns);
  if (!report.devices.empty()) CHECK(abstains(report, "synchronisation records"));
}

inline void check_without_ranges(const profile::Trace& trace, const analysis::Report& whole) {
  INFO("without ranges");
  const analysis::Report report = analyze_all(synth::without_ranges(trace));
  check_sums(report);
  check_same_devices(whole, report);
  CHECK(report.quality.linked == whole.quality.linked);
  CHECK(report.quality.coverage == whole.quality.coverage);
  CHECK(report.lambda_ns == whole.lambda_ns);
  CHECK(report.Lambda_ns == whole.Lambda_ns);
  // Nothing has a name but the kernels themselves.
  CHECK(std::all_of(report.ops.begin(), report.ops.end(),
                    [](const auto& op) { return op.source == analysis::OpSource::kernel_family; }));
  CHECK(report.steps.count == 0);
  if (!report.devices.empty()) CHECK(abstains(report, "op or NVTX ranges"));
}

inline void check_without_ids(const profile::Trace& trace, const analysis::Report& whole) {
  INFO("without correlation ids");
  const analysis::Report report = analyze_all(synth::without_correlation_ids(trace));
  check_sums(report);
  check_same_devices(whole, report);
  CHECK(report.quality.calls == 0);
  CHECK(report.quality.linked == 0);
  CHECK(report.quality.unlinked == whole.quality.linked + whole.quality.unlinked);
  CHECK(report.critical_path.window_ns == whole.critical_path.window_ns);
  if (!report.devices.empty() && trace.api_calls.size() > 0) {
    CHECK(abstains(report, "correlation ids"));
  }
}

inline void check_fewer_kernels(const profile::Trace& trace, const analysis::Report& whole,
                                std::uint64_t seed) {
  INFO("with 10 % of kernels removed");
  const synth::FewerKernels fewer = synth::without_some_kernels(trace, 10, seed);
  const analysis::Report report = analyze_all(fewer.trace);
  check_sums(report);
  std::int64_t kernels_before = 0, kernels_after = 0;
  for (const auto& d : whole.devices) kernels_before += d.timeline.kernels;
  for (const auto& d : report.devices) kernels_after += d.timeline.kernels;
  std::int64_t lost_timestamps = 0;
  for (std::size_t k = 0; k < trace.kernels.size(); ++k) {
    if (!profile::has_timestamp(trace.kernels.start_ns[k], trace.kernels.end_ns[k]))
      ++lost_timestamps;
  }
  if (lost_timestamps == 0) CHECK(kernels_before - kernels_after == fewer.kernels_removed);
  // host figures do not depend on kernels
  CHECK(report.quality.calls == whole.quality.calls);
  const auto host_time = [](const analysis::Report& of) {
    std::int64_t sum = 0;
    for (const auto& op : of.ops) sum += op.host_ns == profile::kUnknown ? 0 : op.host_ns;
    return sum;
  };
  CHECK(host_time(whole) == host_time(report));
  // coverage falls by exactly the submissions that lost all their work
  const std::int64_t named = report.quality.submissions;
  CHECK(report.quality.linked_submissions ==
        whole.quality.linked_submissions - fewer.submissions_without_work);
  if (named > 0) {
    CHECK(report.quality.coverage ==
          static_cast<double>(report.quality.linked_submissions) / static_cast<double>(named));
  }
  if (fewer.submissions_without_work > 0 && report.quality.linked > 0) {
    CHECK(warns(report, "submissions_without_work"));
  }
}

inline void check_ablations(const profile::Trace& trace, std::uint64_t seed) {
  const analysis::Report whole = analyze_all(trace);
  check_sums(whole);
  check_without_calls(trace, whole);
  check_without_syncs(trace, whole);
  check_without_ranges(trace, whole);
  check_without_ids(trace, whole);
  check_fewer_kernels(trace, whole, seed);
}

}  // namespace gprofml::test
