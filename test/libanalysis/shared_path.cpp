// ../shared/oracle/path.jsonl, an independent implementation of definitions.md: idle causes, launch
// latency, critical path and steps from ranges.
#include <catch2/catch.hpp>
#include <map>

#include "test/libanalysis/shared_support.hpp"

using namespace gprofml;

namespace {

// As text, so that a failing check prints what differs.
std::string text(const std::map<std::string, std::int64_t>& named) {
  std::string line;
  for (const auto& [name, ns] : named) line += name + "=" + std::to_string(ns) + " ";
  return line;
}

using ByName = std::map<std::string, std::int64_t>;

template <class Values>
ByName nonzero(const Values& by_class) {
  ByName named;
  for (int c = 0; c < analysis::kTimeClassCount; ++c) {
    if (const std::int64_t ns = by_class[static_cast<std::size_t>(c)]; ns != 0) {
      named[std::string(analysis::name_of(static_cast<analysis::TimeClass>(c)))] = ns;
    }
  }
  return named;
}

ByName nonzero(const nlohmann::json& expected) {
  ByName named;
  for (const auto& [name, ns] : expected.items()) {
    if (ns.get<std::int64_t>() != 0) named[name] = ns.get<std::int64_t>();
  }
  return named;
}

void check_idle(const nlohmann::json& expected, const analysis::Report& report) {
  CHECK(report.devices.size() == expected.size());
  for (const analysis::DeviceReport& device : report.devices) {
    const std::string id = std::to_string(device.id);
    INFO("idle causes of device " << id);
    REQUIRE(expected.contains(id));
    CHECK(device.timeline.idle_ns == expected[id]["idle_ns"].get<std::int64_t>());
    CHECK(text(nonzero(device.timeline.idle_by_cause)) == text(nonzero(expected[id]["by_cause"])));
    std::int64_t sum = 0;
    for (const std::int64_t ns : device.timeline.idle_by_cause) sum += ns;
    CHECK(sum == device.timeline.idle_ns);
  }
}

void check_partition(const analysis::CriticalPath& path, const analysis::Window& window) {
  std::int64_t at = window.from_ns;
  for (const analysis::PathSegment& s : path.segments) {
    REQUIRE(s.start_ns == at);
    REQUIRE(s.duration_ns > 0);
    at += s.duration_ns;
  }
  CHECK(at == window.to_ns);
  CHECK(path.segments_total_ns == path.window_ns);
}

void check_path(const nlohmann::json& expected, const analysis::Report& report) {
  const analysis::CriticalPath& path = report.critical_path;
  CHECK(path.exists == !expected.empty());
  if (expected.empty() || !path.exists) return;
  CHECK(path.window_ns == expected["window_ns"].get<std::int64_t>());
  CHECK(path.gpu_ns == expected["gpu_ns"].get<std::int64_t>());
  CHECK(path.inferred_ns == expected["inferred_ns"].get<std::int64_t>());
  CHECK(path.unknown_ns == expected["unknown_ns"].get<std::int64_t>());
  CHECK(path.partial_because == expected["partial"].get<std::vector<std::string>>());
  CHECK(text(nonzero(path.by_class)) == text(nonzero(expected["by_class"])));
  check_partition(path, report.window);
}

void check_steps(const nlohmann::json& expected, const analysis::Steps& steps) {
  if (expected.is_null()) {
    CHECK(steps.count == 0);
    return;
  }
  CHECK(steps.count == expected["count"].get<std::int64_t>());
  CHECK(steps.median_ns == expected["median_ns"].get<std::int64_t>());
  CHECK(steps.source == expected["source"].get<std::string>());
}

}  // namespace

TEST_CASE("idle causes, critical path and steps equal the independent implementation") {
  int files = 0;
  for (const nlohmann::json& line : test::oracle_lines("path.jsonl")) {
    const std::string file = line["file"];
    ++files;
    INFO(file);
    const analysis::Report report =
        test::analyze_all(profile::import_file(test::shared_trace(file)));
    CHECK(report.lambda_ns == line["lambda_ns"].get<std::int64_t>());
    CHECK(report.Lambda_ns == line["Lambda_ns"].get<std::int64_t>());
    check_idle(line["idle"], report);
    check_path(line["critical_path"], report);
    check_steps(line["steps"]["ranges"], report.steps);
  }
  CHECK(files >= 60);
}
