#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "libanalysis/report/json.hpp"
#include "test/libanalysis/report/populated_report.hpp"

namespace gprofml::test {
namespace {

using analysis::JsonOptions;
using analysis::render_json;
using analysis::Report;
using nlohmann::json;

JsonOptions with_path() {
  JsonOptions options;
  options.path = true;
  options.tool_version = "9.8.7";
  return options;
}

json parsed(const Report& report, const JsonOptions& options = with_path()) {
  return json::parse(render_json(report, options));
}

json schema() {
  std::ifstream file(GPROFML_SOURCE_DIR "/docs/report.schema.json");
  REQUIRE(file);
  return json::parse(file);
}

/// What populated_report() put in, by the place where it has to be found again.
const std::map<std::string, json>& planted() {
  static const std::map<std::string, json> values = {
      {"/schema_version", 1},
      {"/tool_version", "9.8.7"},
      {"/run/source", "run.db"},
      {"/run/command", "./llama_infer"},
      {"/run/simulated", true},
      {"/run/start_ns", 1764597781000000001},
      {"/run/end_ns", 1764597781000000999},
      {"/window/kind", "steps"},
      {"/window/from_ns", 101},
      {"/window/to_ns", 102},
      {"/window/recorded_windows", 104},
      {"/window/left_out/0/what", "warm-up"},
      {"/window/left_out/0/ns", 103},
      {"/quality/calls", 111},
      {"/quality/submissions", 112},
      {"/quality/linked", 114},
      {"/quality/unlinked", 115},
      {"/quality/coverage", 0.75},
      {"/quality/no_timestamp", 116},
      {"/quality/overruns", 117},
      {"/quality/dropped", 118},
      {"/quality/warnings/0/code", "lost_records"},
      {"/quality/warnings/0/count", 119},
      {"/quality/warnings/0/message", "119 records were lost"},
      {"/clock/bound_ns", 121},
      {"/steps/count", 201},
      {"/steps/kind", "step"},
      {"/steps/source", "ranges:train"},
      {"/steps/confidence", 0.1},
      {"/steps/median_ns", 202},
      {"/steps/p95_ns", 203},
      {"/steps/p99_ns", 204},
      {"/steps/launches", 205},
      {"/steps/signature/launches", 206},
      {"/steps/signature/identical", 207},
      {"/steps/signature/of", 208},
      {"/steps/outliers/0/index", 209},
      {"/steps/outliers/0/duration_ns", 210},
      {"/steps/outliers/0/name", "train#209"},
      {"/verdict/bound", "host"},
      {"/verdict/sentence", "The GPU waits for the host."},
      {"/devices/0/id", 301},
      {"/devices/0/name", "NVIDIA H200"},
      {"/devices/0/uuid", "GPU-5c1e"},
      {"/devices/0/host", "node7"},
      {"/devices/0/processes/0", 302},
      {"/devices/0/processes/1", nullptr},
      {"/devices/0/lambda_ns", 131},
      {"/devices/0/Lambda_ns", 132},
      {"/devices/0/kernels", 303},
      {"/devices/0/copies", 304},
      {"/devices/0/fills", 305},
      {"/devices/0/kernel_ns", 306},
      {"/devices/0/copy_ns", 307},
      {"/devices/0/fill_ns", 308},
      {"/devices/0/graph_launches", 319},
      {"/devices/0/graph_ns", 320},
      {"/devices/0/busy_ns", 309},
      {"/devices/0/busy_corrected_ns", 310},
      {"/devices/0/kernel_union_ns", 311},
      {"/devices/0/memory_union_ns", 312},
      {"/devices/0/communication_union_ns", 313},
      {"/devices/0/communication_exposed_ns", 315},
      {"/devices/0/copy_exposed_ns", 316},
      {"/devices/0/span_ns", 317},
      {"/devices/0/idle_ns", 318},
      {"/devices/0/idle/by_cause/device_gap", 405},
      {"/devices/0/idle/by_cause/graph_gap", 406},
      {"/devices/0/idle/by_cause/launch_latency", 407},
      {"/devices/0/idle/by_cause/launch_call", 408},
      {"/devices/0/idle/by_cause/slow_launch_call", 409},
      {"/devices/0/idle/by_cause/runtime_call", 410},
      {"/devices/0/idle/by_cause/sync_return", 411},
      {"/devices/0/idle/by_cause/host_code", 412},
      {"/devices/0/idle/by_cause/issued_no_recorded_reason", 416},
      {"/devices/0/idle/by_cause/no_launch_record", 417},
      {"/devices/0/idle/by_cause/sync_no_recorded_work", 418},
      {"/devices/0/idle/by_cause/thread_not_seen", 419},
      {"/devices/0/idle/by_cause/wait_other_device", 420},
      {"/devices/0/idle/by_cause/launching_elsewhere", 421},
      {"/devices/0/idle/by_cause/before_first", 422},
      {"/devices/0/idle/by_cause/after_last", 423},
      {"/kernels/0/name", "gemm"},
      {"/kernels/0/device", 141},
      {"/kernels/0/count", 4},
      {"/kernels/0/total_ns", 142},
      {"/kernels/0/min_ns", 143},
      {"/kernels/0/max_ns", 144},
      {"/kernels/0/mean_ns", 36},  // 142 / 4 = 35.5
      {"/ops/0/path", "model/mm"},
      {"/ops/0/source", "range"},
      {"/ops/0/count", 151},
      {"/ops/0/host_ns", 152},
      {"/ops/0/device_ns", 153},
      {"/ops/0/kernels", 154},
      {"/critical_path/window_ns", 501},
      {"/critical_path/segments_total_ns", 502},
      {"/critical_path/gpu_ns", 503},
      {"/critical_path/inferred_ns", 504},
      {"/critical_path/unknown_ns", 505},
      {"/critical_path/partial", true},
      {"/critical_path/partial_because/0", "too little is known"},
      {"/critical_path/by_class/kernel", 600},
      {"/critical_path/by_class/communication", 601},
      {"/critical_path/by_class/copy", 602},
      {"/critical_path/by_class/fill", 603},
      {"/critical_path/by_class/cuda_graph", 604},
      {"/critical_path/by_class/device_gap", 605},
      {"/critical_path/by_class/graph_gap", 606},
      {"/critical_path/by_class/launch_latency", 607},
      {"/critical_path/by_class/launch_call", 608},
      {"/critical_path/by_class/slow_launch_call", 609},
      {"/critical_path/by_class/runtime_call", 610},
      {"/critical_path/by_class/sync_return", 611},
      {"/critical_path/by_class/host_code", 612},
      {"/critical_path/by_class/comm_wait", 613},
      {"/critical_path/by_class/comm_transfer", 614},
      {"/critical_path/by_class/after_last_gpu_work", 615},
      {"/critical_path/by_class/issued_no_recorded_reason", 616},
      {"/critical_path/by_class/no_launch_record", 617},
      {"/critical_path/by_class/sync_no_recorded_work", 618},
      {"/critical_path/by_class/thread_not_seen", 619},
      {"/critical_path/calls/0/name", "cudaFree"},
      {"/critical_path/calls/0/ns", 619},
      {"/critical_path/segments/0/class", "launch_call"},
      {"/critical_path/segments/0/name", "cudaLaunchKernel"},
      {"/critical_path/segments/0/start_ns", 161},
      {"/critical_path/segments/0/duration_ns", 162},
      {"/critical_path/segments/0/inferred", true},
      {"/ranking/iterations", 171},
      {"/ranking/residual", 0.25},
      {"/ranking/nodes/0/kind", "carrier"},
      {"/ranking/nodes/0/name", "cudaLaunchKernel"},
      {"/ranking/nodes/0/score", 0.5},
      {"/ranking/nodes/0/path_share", 0.375},
      {"/serving/request_range", "ask"},
      {"/serving/prefill_range", "read"},
      {"/serving/token_range", "word"},
      {"/serving/requests", 701},
      {"/serving/judged", 702},
      {"/serving/left_out/0/why", "too short"},
      {"/serving/left_out/0/count", 703},
      {"/serving/tokens", 704},
      {"/serving/span_ns", 1000000000},
      {"/serving/tokens_per_s", 704.0},
      {"/serving/latency/count", 706},
      {"/serving/latency/median_ns", 707},
      {"/serving/latency/p95_ns", 708},
      {"/serving/latency/p99_ns", 709},
      {"/serving/ttft/count", 710},
      {"/serving/ttft/median_ns", 711},
      {"/serving/ttft/p95_ns", 712},
      {"/serving/ttft/p99_ns", 713},
      {"/serving/tpot/count", 714},
      {"/serving/tpot/median_ns", 715},
      {"/serving/tpot/p95_ns", 716},
      {"/serving/tpot/p99_ns", 717},
      {"/serving/ttft_by_prefill", 718},
      {"/serving/ended_before_gpu", 719},
      {"/serving/ambiguous", 720},
      {"/metrics/0/name", "tok_s"},
      {"/metrics/0/pattern", "([0-9]+) tok"},
      {"/metrics/0/count", 721},
      {"/metrics/0/value", 722.5},
      {"/metrics/0/min", 723.5},
      {"/metrics/0/max", 724.5},
      {"/replay", nullptr},
      {"/findings", json::array()},
      {"/abstained/0/rule", "occupancy"},
      {"/abstained/0/missing", "no counters"},
      {"/abstained/0/switch", "--counters core"},
  };
  return values;
}

/// Key paths of a document, array positions left out: "/devices/idle/by_cause/host_code".
void collect_keys(const json& value, const std::string& at, std::set<std::string>& keys) {
  if (value.is_object()) {
    for (const auto& [key, inner] : value.items()) {
      keys.insert(at + "/" + key);
      collect_keys(inner, at + "/" + key, keys);
    }
  }
  if (value.is_array()) {
    for (const json& element : value) collect_keys(element, at, keys);
  }
}

/// Key paths that a schema allows; checks on the way that nothing else is allowed anywhere and that
/// every key says what it is.
void collect_schema_keys(const json& part, const std::string& at, std::set<std::string>& keys) {
  if (part.contains("properties")) {
    INFO("object " << at);
    CHECK(part.at("additionalProperties") == false);
    for (const auto& [key, inner] : part.at("properties").items()) {
      INFO("key " << key);
      CHECK_FALSE(inner.value("description", "").empty());
      keys.insert(at + "/" + key);
      collect_schema_keys(inner, at + "/" + key, keys);
    }
  }
  if (part.contains("items") && part.at("items").is_object()) {
    collect_schema_keys(part.at("items"), at, keys);
  }
}

TEST_CASE("every value of a report stands under its key in the JSON, and nothing else does") {
  const json flat = parsed(populated_report()).flatten();
  for (const auto& [pointer, value] : planted()) {
    INFO(pointer);
    REQUIRE(flat.contains(pointer));
    const json expected = value == json::array() ? json() : value;  // flatten() writes [] as null
    CHECK(flat.at(pointer) == expected);
  }
  for (const auto& [pointer, value] : flat.items()) {
    INFO(pointer << " = " << value);
    CHECK(planted().count(pointer) == 1);
  }
}

TEST_CASE("schema and JSON have exactly the same keys") {
  std::set<std::string> in_schema;
  collect_schema_keys(schema(), "", in_schema);
  std::set<std::string> in_report;
  collect_keys(parsed(populated_report()), "", in_report);
  CHECK(in_schema == in_report);
}

TEST_CASE("a schema key that carries ns says so in its description") {
  std::set<std::string> keys;
  const json flat = schema().flatten();
  for (const auto& [pointer, value] : flat.items()) {
    const bool is_ns_key = pointer.find("_ns/description") != std::string::npos;
    if (!is_ns_key) continue;
    INFO(pointer);
    CHECK(value.get<std::string>().find("in ns") != std::string::npos);
  }
}

TEST_CASE("what is not known is null, never a number") {
  Report report = populated_report();
  report.devices[0].id = profile::kUnknown;
  report.kernel_device_ids[0] = profile::kUnknown;
  report.clock_bound_ns = profile::kUnknown;
  report.steps = analysis::Steps{};
  const json out = parsed(report);
  CHECK(out.at("devices").at(0).at("id").is_null());
  CHECK(out.at("kernels").at(0).at("device").is_null());
  CHECK(out.at("clock").at("bound_ns").is_null());
  CHECK(out.at("steps").at("count") == 0);
  CHECK(out.at("steps").at("median_ns").is_null());
}

TEST_CASE("without GPU work there is no critical path, and devices stay an array") {
  const json out = parsed(Report{});
  CHECK(out.at("critical_path").is_null());
  CHECK(out.at("devices") == json::array());
  CHECK(out.at("kernels") == json::array());
  CHECK(out.at("verdict").at("bound") == "unknown");
}

TEST_CASE("segments are written only when asked for") {
  CHECK_FALSE(parsed(populated_report(), JsonOptions{}).at("critical_path").contains("segments"));
  CHECK(parsed(populated_report()).at("critical_path").contains("segments"));
}

TEST_CASE("only classes that occur are written") {
  Report report = populated_report();
  report.devices[0].timeline.idle_by_cause = {};
  report.devices[0]
      .timeline.idle_by_cause[static_cast<std::size_t>(analysis::TimeClass::sync_return)] = 7;
  report.critical_path.by_class = {};
  const json out = parsed(report);
  CHECK(out.at("devices").at(0).at("idle") == json{{"by_cause", {{"sync_return", 7}}}});
  CHECK(out.at("critical_path").at("by_class") == json::object());
}

TEST_CASE("the mean is rounded to the nearest nanosecond, halves up") {
  const auto mean = [](std::int64_t total_ns, std::int64_t count) {
    Report report = populated_report();
    report.kernels[0].total_ns = total_ns;
    report.kernels[0].count = count;
    return parsed(report).at("kernels").at(0).at("mean_ns");
  };
  CHECK(mean(10, 3) == 3);
  CHECK(mean(11, 3) == 4);
  CHECK(mean(1, 2) == 1);
  CHECK(mean(std::int64_t{9'000'000'000'000'000'001}, 1) == 9'000'000'000'000'000'001);
  CHECK(mean(5, 0).is_null());
}

TEST_CASE("names that are no UTF-8 still give valid JSON") {
  Report report = populated_report();
  report.kernels[0].name = "ge\xFFmm";
  CHECK(parsed(report).at("kernels").at(0).at("name") == "ge\xEF\xBF\xBDmm");
}

TEST_CASE("doubles are written in the shortest form that reads back") {
  CHECK(render_json(populated_report(), with_path()).find("\"confidence\": 0.1,") !=
        std::string::npos);
}

TEST_CASE("keys stand in the documented order and the document ends with a line end") {
  const std::string text = render_json(populated_report(), with_path());
  std::size_t last = 0;
  for (const char* const key : {"schema_version", "tool_version", "run", "window", "quality",
                                "clock", "steps", "verdict", "devices", "kernels", "ops",
                                "critical_path", "ranking", "serving", "metrics", "replay", "findings", "abstained"}) {
    INFO(key);
    const std::size_t at = text.find("\n  \"" + std::string(key) + "\":");
    REQUIRE(at != std::string::npos);
    CHECK(at > last);
    last = at;
  }
  CHECK(text.back() == '\n');
}

}  // namespace
}  // namespace gprofml::test
