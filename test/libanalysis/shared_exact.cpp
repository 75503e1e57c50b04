// Every figure of ../shared/oracle/exact.jsonl, to the nanosecond: read directly and through
// run.db.
#include <catch2/catch.hpp>

#include "test/libanalysis/shared_support.hpp"

using namespace gprofml;

namespace {

void check_device(const nlohmann::json& expected, const analysis::DeviceTimeline& d) {
  CHECK(d.kernels == expected["kernels"].get<std::int64_t>());
  CHECK(d.copies == expected["copies"].get<std::int64_t>());
  CHECK(d.fills == expected["fills"].get<std::int64_t>());
  CHECK(d.kernel_ns == expected["kernel_ns"].get<std::int64_t>());
  CHECK(d.copy_ns == expected["copy_ns"].get<std::int64_t>());
  CHECK(d.fill_ns == expected["fill_ns"].get<std::int64_t>());
  CHECK(d.busy_ns == expected["busy_ns"].get<std::int64_t>());
  CHECK(d.kernel_union_ns == expected["kernel_union_ns"].get<std::int64_t>());
  CHECK(d.memory_union_ns == expected["memory_union_ns"].get<std::int64_t>());
  CHECK(d.span_ns == expected["span_ns"].get<std::int64_t>());
  CHECK(d.idle_ns == expected["idle_ns"].get<std::int64_t>());
}

// The oracle lists the five kernels with the largest sums.
void check_top_kernels(const nlohmann::json& expected, const analysis::Report& report,
                       std::int64_t device) {
  for (const nlohmann::json& top : expected["top"]) {
    const auto found = std::find_if(
        report.kernels.begin(), report.kernels.end(), [&](const analysis::KernelStatistics& k) {
          const auto row = static_cast<std::size_t>(&k - report.kernels.data());
          return k.name == top[0].get<std::string>() && report.kernel_device_ids[row] == device;
        });
    REQUIRE(found != report.kernels.end());
    CHECK(found->count == top[1].get<std::int64_t>());
    CHECK(found->total_ns == top[2].get<std::int64_t>());
  }
}

void check_report(const nlohmann::json& expected, const analysis::Report& report) {
  CHECK(report.quality.calls == expected["launches"].get<std::int64_t>());
  CHECK(report.quality.linked == expected["linked"].get<std::int64_t>());
  CHECK(report.quality.unlinked == expected["unlinked"].get<std::int64_t>());
  REQUIRE(report.devices.size() == expected["devices"].size());
  for (const analysis::DeviceReport& device : report.devices) {
    const std::string id = std::to_string(device.id);
    INFO("device " << id);
    REQUIRE(expected["devices"].contains(id));
    check_device(expected["devices"][id], device.timeline);
    check_top_kernels(expected["devices"][id], report, device.id);
  }
}

}  // namespace

TEST_CASE("exact figures of every Chrome-JSON trace, direct and through run.db") {
  int files = 0;
  for (const nlohmann::json& line : test::oracle_lines("exact.jsonl")) {
    const std::string file = line["file"];
    if (!test::is_chrome_json(file)) continue;
    ++files;
    INFO(file);
    const profile::Trace trace = profile::import_file(test::shared_trace(file));
    check_report(line, test::analyze_all(trace));
    check_report(line, test::analyze_all(test::through_run_db(trace)));
  }
  CHECK(files >= 45);
}
