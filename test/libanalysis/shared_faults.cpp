// ../shared/traces/faults: one fault a file, with the right values in expected.json.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <string_view>

#include "test/libanalysis/shared_support.hpp"

using namespace gprofml;
using analysis::TimeClass;

namespace {

const nlohmann::json& expected(const std::string& fault) {
  static const nlohmann::json all = [] {
    std::ifstream file(test::shared_trace("faults/expected.json"));
    return nlohmann::json::parse(file);
  }();
  return all.at(fault).at("expected");
}

analysis::Report report_of(const std::string& fault) {
  return test::analyze_all(profile::import_file(test::shared_trace("faults/" + fault + ".json")));
}

// expected.json writes microseconds with at most two decimals: exact as nanoseconds.
std::int64_t ns(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000.0);
}

std::int64_t on_path(const analysis::Report& report, TimeClass c) {
  return report.critical_path.by_class[static_cast<std::size_t>(c)];
}

const analysis::DeviceTimeline& only_device(const analysis::Report& report) {
  REQUIRE(report.devices.size() == 1);
  return report.devices.front().timeline;
}

}  // namespace

TEST_CASE("f01: durations under 1 us stay what they are") {
  const analysis::Report report = report_of("f01_ns_short_events");
  const nlohmann::json& e = expected("f01_ns_short_events");
  const analysis::DeviceTimeline& d = only_device(report);
  CHECK(d.memory_union_ns == ns(e["memory_us"]));
  CHECK(d.compute_ns == ns(e["compute_us"]));
  CHECK(d.busy_ns == ns(e["busy_us"]));
  CHECK(d.span_ns == ns(e["span_us"]));
}

TEST_CASE("f02: Python between two ops is host code on the path") {
  const analysis::Report report = report_of("f02_python_gap");
  const nlohmann::json& e = expected("f02_python_gap");
  CHECK(report.critical_path.window_ns == ns(e["critical_path_us"]));
  CHECK(report.critical_path.window_ns == ns(e["wall_us"]));
  std::int64_t outside_ops = 0;
  for (const analysis::PathSegment& s : report.critical_path.segments) {
    if (s.time_class == TimeClass::host_code && s.subject == analysis::PathSegment::Subject::none) {
      outside_ops += s.duration_ns;
    }
  }
  CHECK(outside_ops == ns(e["python_gap_us"]));
}

TEST_CASE("f03: a synchronisation without its record still leads to the kernel") {
  const analysis::Report report = report_of("f03_sync_without_sync_events");
  const nlohmann::json& e = expected("f03_sync_without_sync_events");
  CHECK(report.critical_path.window_ns == ns(e["critical_path_us"]));
  CHECK(report.critical_path.gpu_ns == ns(e["gpu_on_path_us"]));
  CHECK(analysis::name_of(report.verdict.bound) == e["bound"].get<std::string>());
}

TEST_CASE("f04: kernels of a graph replay are on the path, under cudaGraphLaunch") {
  const profile::Trace trace =
      profile::import_file(test::shared_trace("faults/f04_cuda_graph.json"));
  const analysis::Report report = test::analyze_all(trace);
  const nlohmann::json& e = expected("f04_cuda_graph");
  CHECK(only_device(report).kernels == e["kernels"].get<std::int64_t>());
  CHECK(only_device(report).busy_ns == ns(e["busy_us"]));
  CHECK(report.critical_path.gpu_ns == ns(e["gpu_on_path_us"]));
  for (const profile::RowIndex call : trace.kernels.launch) {
    REQUIRE(call != profile::kNoRow);
    CHECK(trace.text(trace.api_calls.name[call]) == e["launch_api"].get<std::string>());
  }
}

TEST_CASE("f05: a synchronisation record is not GPU work") {
  const analysis::Report report = report_of("f05_sync_is_not_work");
  const nlohmann::json& e = expected("f05_sync_is_not_work");
  CHECK(only_device(report).busy_ns == ns(e["busy_us"]));
  CHECK(only_device(report).idle_ns == ns(e["idle_us"]));
  CHECK(only_device(report).span_ns == ns(e["span_us"]));
}

TEST_CASE("f07: overlapping kernels of one stream are both counted") {
  const analysis::Report report = report_of("f07_pdl_overlap");
  const nlohmann::json& e = expected("f07_pdl_overlap");
  CHECK(only_device(report).kernels == e["kernels"].get<std::int64_t>());
  CHECK(only_device(report).busy_ns == ns(e["busy_us"]));
  CHECK(only_device(report).kernel_ns == ns(e["sum_us"]));
}

TEST_CASE("f09: idle time is per device") {
  const analysis::Report report = report_of("f09_two_devices_one_process");
  const nlohmann::json& e = expected("f09_two_devices_one_process")["per_device"];
  REQUIRE(report.devices.size() == e.size());
  for (const analysis::DeviceReport& d : report.devices) {
    const nlohmann::json& device = e.at(std::to_string(d.id));
    CHECK(d.timeline.busy_ns == ns(device["busy_us"]));
    CHECK(d.timeline.idle_ns == ns(device["idle_us"]));
  }
}

TEST_CASE("f10: a lost time stamp does not stretch the span to the epoch") {
  const analysis::Report report = report_of("f10_zero_timestamp");
  const nlohmann::json& e = expected("f10_zero_timestamp");
  CHECK(only_device(report).span_ns == ns(e["span_us"]));
  CHECK(only_device(report).busy_ns == ns(e["busy_us"]));
  CHECK(report.quality.no_timestamp == 1);
  CHECK(std::any_of(report.quality.warnings.begin(), report.quality.warnings.end(),
                    [&](const analysis::QualityWarning& w) {
                      return w.message == e["warning"].get<std::string>();
                    }));
}

TEST_CASE("f12: every kernel is listed with its own minimum, maximum and sum") {
  const analysis::Report report = report_of("f12_more_than_top_n");
  CHECK(report.kernels.size() == 12);
  for (const auto& [name, figures] : expected("f12_more_than_top_n").items()) {
    const auto found = std::find_if(
        report.kernels.begin(), report.kernels.end(),
        [&, &wanted = name](const analysis::KernelStatistics& k) { return k.name == wanted; });
    REQUIRE(found != report.kernels.end());
    CHECK(found->total_ns == ns(figures["sum"]));
    CHECK(found->total_ns / found->count == ns(figures["mean"]));
    CHECK(found->min_ns == ns(figures["min"]));
    CHECK(found->max_ns == ns(figures["max"]));
    CHECK(found->count == figures["count"].get<std::int64_t>());
  }
}

TEST_CASE("f14: communication is more than NCCL") {
  const analysis::Report report = report_of("f14_custom_collectives");
  const nlohmann::json& e = expected("f14_custom_collectives");
  CHECK(only_device(report).communication_union_ns == ns(e["comm_us"]));
  CHECK(only_device(report).compute_ns == ns(e["compute_us"]));
}

TEST_CASE("f16, f17, f18: no GPU work is a sentence, not an error") {
  for (const char* fault : {"f16_cpu_only", "f17_metadata_only", "f18_empty"}) {
    INFO(fault);
    const analysis::Report report = report_of(fault);
    CHECK(report.devices.empty());
    CHECK(report.kernels.empty());
    CHECK_FALSE(report.critical_path.exists);
    CHECK(report.verdict.sentence.find("NO GPU WORK") == 0);
  }
}

TEST_CASE("f20: a child that outlives its parent by a nanosecond is its child") {
  const analysis::Report report = report_of("f20_child_outlives_parent");
  for (const auto& [name, depth] : expected("f20_child_outlives_parent")["depth"].items()) {
    std::int64_t found = -1;
    for (const analysis::OpStatistics& op : report.ops) {
      const std::size_t at = op.path.rfind('/');
      const std::string last = at == std::string::npos ? op.path : op.path.substr(at + 1);
      if (last == name) found = std::count(op.path.begin(), op.path.end(), '/');
    }
    INFO(name);
    CHECK(found == depth.get<std::int64_t>());
  }
}

TEST_CASE("f22: a pageable asynchronous copy blocks the host and is on the path") {
  const analysis::Report report = report_of("f22_pageable_async_copy");
  CHECK(report.critical_path.window_ns ==
        ns(expected("f22_pageable_async_copy")["critical_path_us"]));
  CHECK(on_path(report, TimeClass::copy) > 0);
}
