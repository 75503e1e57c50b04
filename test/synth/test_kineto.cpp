// The Kineto files are valid JSON that says what the execution did, in every era's words.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "test/synth/random_program.hpp"
#include "test/synth/shuffle.hpp"
#include "test/synth/small_programs.hpp"
#include "test/synth/to_kineto.hpp"

using namespace gprofml::synth;
using nlohmann::json;

namespace {

json events_of(const std::string& text) {
  const json document = json::parse(text);
  return document.is_array() ? document : document.at("traceEvents");
}

std::map<std::string, std::size_t> categories(const json& events) {
  std::map<std::string, std::size_t> counts;
  for (const json& event : events) {
    if (event.at("ph") == "X") ++counts[event.at("cat")];
  }
  return counts;
}

// ts or dur, read as decimal text: a double has too few digits.
Nanoseconds nanoseconds_after(const std::string& event, const std::string& key) {
  const std::size_t at = event.find("\"" + key + "\": ") + key.size() + 4;
  const std::size_t point = event.find('.', at);
  return std::stoll(event.substr(at, point - at)) * 1000 + std::stoll(event.substr(point + 1, 3));
}

}  // namespace

TEST_CASE("a kernel event has its exact time, its place and its ids") {
  Program program =
      round_program({{HostWork{1001}, BeginRange{gprofml::profile::RangeKind::op, "say \"hi\"\\\n"},
                      HostWork{1}, kernel({1, 20}, 15, 2345, "k"), HostWork{1}, EndRange{}}});
  program.begin_ns = 1764597781000000000;
  const std::string text = to_kineto_json(run(program));
  const json document = json::parse(text);
  const std::int64_t base_ns = document.at("baseTimeNanoseconds");
  std::string line;
  for (const std::string_view event : kineto_events(text)) {
    if (event.find("\"kernel\"") != std::string_view::npos) line = event;
  }
  CHECK(base_ns + nanoseconds_after(line, "ts") == program.begin_ns + 1001 + 1 + 30);
  CHECK(nanoseconds_after(line, "dur") == 2345);
  const json event = json::parse(line);
  CHECK(event["pid"] == 1);
  CHECK(event["tid"] == 20);
  CHECK(event["args"]["device"] == 1);
  CHECK(event["args"]["stream"] == 20);
  CHECK(event["args"]["correlation"] == 1);
  CHECK(event["args"]["External id"] == 1);
  CHECK(document["deviceProperties"].size() == 1);
  CHECK(document["deviceProperties"][0]["id"] == 1);
  bool found = false;
  for (const json& other : document["traceEvents"]) found |= other["name"] == "say \"hi\"\\\n";
  CHECK(found);
}

TEST_CASE("files of random programs hold every event once") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    INFO("seed " << seed);
    const Execution ran = run(random_program(seed));
    auto counts = categories(events_of(to_kineto_json(ran)));
    REQUIRE(counts["kernel"] + counts["gpu_memcpy"] + counts["gpu_memset"] ==
            ran.activities.size());
    REQUIRE(counts["cuda_runtime"] + counts["cuda_driver"] == ran.calls.size());
    REQUIRE(counts["cpu_op"] + counts["user_annotation"] + counts["python_function"] ==
            ran.ranges.size());
    REQUIRE(counts["cuda_sync"] == ran.syncs.size());
  }
}

TEST_CASE("old eras: their categories, whole microseconds, their way to name streams") {
  const Execution ran = run(scaled(random_program(5), 1000));
  KinetoOptions options;
  options.era = KinetoEra::array_2020;
  const json array = json::parse(to_kineto_json(ran, options));
  REQUIRE(array.is_array());
  auto counts = categories(array);
  CHECK(counts["Kernel"] > 0);
  CHECK(counts["Runtime"] == ran.calls.size());
  CHECK(counts["kernel"] + counts["cuda_runtime"] + counts["cpu_op"] == 0);
  for (const json& event : array) {
    if (event.at("ph") != "X") continue;
    REQUIRE(event.at("ts").is_number_integer());
    if (event.at("cat") == "Kernel") {
      REQUIRE(event.at("tid").get<std::string>().rfind("stream ", 0) == 0);
    }
  }
  options.era = KinetoEra::lower_2022;
  for (const json& event : events_of(to_kineto_json(ran, options))) {
    if (event.value("cat", "") != "kernel") continue;
    REQUIRE(event["args"]["External id"] == event["args"]["correlation"]);
  }
  options.era = KinetoEra::object_2021;
  CHECK_THROWS_WITH(to_kineto_json(run(random_program(5)), options),
                    Catch::Contains("microsecond"));
}

TEST_CASE("options leave out, put the header last, and shuffle") {
  const Execution ran = run(random_program(9));
  KinetoOptions options;
  const std::string plain = to_kineto_json(ran, options);
  options.sync_records = false;
  options.flows = false;
  const json without = events_of(to_kineto_json(ran, options));
  for (const json& event : without) {
    REQUIRE(event.at("ph") != "s");
    REQUIRE(event.value("cat", "") != "cuda_sync");
  }
  KinetoOptions last;
  last.header_first = false;
  last.rank = 3;
  last.host = "node\t1";
  const std::string text = to_kineto_json(ran, last);
  CHECK(text.find("traceEvents") < text.find("baseTimeNanoseconds"));
  CHECK(json::parse(text)["distributedInfo"]["rank"] == 3);
  CHECK(json::parse(text)["host_name"] == "node\t1");
  KinetoOptions shuffled;
  shuffled.shuffle_seed = 4;
  const std::string other = to_kineto_json(ran, shuffled);
  CHECK(other != plain);
  auto sorted = [](const std::string& file) {
    auto events = kineto_events(file);
    std::vector<std::string> texts(events.begin(), events.end());
    std::sort(texts.begin(), texts.end());
    return texts;
  };
  CHECK(sorted(other) == sorted(plain));
}

TEST_CASE("shuffling a file moves the events' texts and nothing else") {
  const std::string file =
      R"({"a": {"traceEvents": [9]}, "b": "\"traceEvents\": [", "traceEvents" :
 [ {"x": "]}\\\"", "ts": 1.500e3} ,{"y": [1, {"z": []}]}, 17, "s", null ,
  -0.10 ] , "end": 1})";
  const auto events = kineto_events(file);
  REQUIRE(events.size() == 6);
  CHECK(events[0] == R"({"x": "]}\\\"", "ts": 1.500e3})");
  CHECK(events[1] == R"({"y": [1, {"z": []}]})");
  CHECK(events[5] == "-0.10");
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::string shuffled = shuffle_kineto_events(file, seed);
    REQUIRE(shuffled == shuffle_kineto_events(file, seed));
    REQUIRE(shuffled.size() == file.size());
    REQUIRE(shuffled.substr(0, 68) == file.substr(0, 68));
    REQUIRE(shuffled.substr(file.size() - 14) == file.substr(file.size() - 14));
    json before = json::parse(file);
    json after = json::parse(shuffled);
    std::sort(before["traceEvents"].begin(), before["traceEvents"].end());
    std::sort(after["traceEvents"].begin(), after["traceEvents"].end());
    REQUIRE(before == after);
    orders.insert(shuffled);
  }
  CHECK(orders.size() > 15);
}

TEST_CASE("bare arrays, empty arrays and broken files") {
  CHECK(kineto_events(" [ 1,2 ] ").size() == 2);
  CHECK(shuffle_kineto_events("[]", 1) == "[]");
  CHECK(shuffle_kineto_events(R"({"traceEvents":[]})", 1) == R"({"traceEvents":[]})");
  for (const char* broken :
       {"", "17", "{}", R"({"other": []})", "[1", "[{]", R"({"traceEvents": [1, "a)",
        R"({"traceEvents": {}})", "[1 2]", "[,]"}) {
    INFO(broken);
    CHECK_THROWS_AS(kineto_events(broken), std::invalid_argument);
  }
}
