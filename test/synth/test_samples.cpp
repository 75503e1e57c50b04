// The traces in samples/ are what the tool makes, and they show what they are said to show.
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "test/synth/execution.hpp"
#include "test/synth/samples.hpp"
#include "test/synth/truth.hpp"

using namespace gprofml::synth;

TEST_CASE("samples/ holds what make_samples writes, byte for byte") {
  for (const Sample& sample : samples()) {
    std::ifstream file(std::string(GPROFML_SOURCE_DIR) + "/samples/" + sample.file,
                       std::ios::binary);
    INFO(sample.file << " differs: run make_samples samples/");
    REQUIRE(file.good());
    std::ostringstream content;
    content << file.rdbuf();
    CHECK((content.str() == sample.json));
    CHECK(sample.json.size() < 300000);
    CHECK(nlohmann::json::parse(sample.json).at("gprofml_simulated") == true);
  }
}

TEST_CASE("the decode sample is bound by its host, slowest in its first step") {
  const Execution ran = run(decode_program());
  const DeviceTruth device = device_truth(ran).at(0);
  CHECK(device.idle_ns * 2 > device.span_ns);
  std::vector<Nanoseconds> steps;
  for (const RangeRun& range : ran.ranges) {
    if (range.name.rfind("ProfilerStep#", 0) == 0) steps.push_back(range.end_ns - range.start_ns);
  }
  REQUIRE(steps.size() == 8);
  for (std::size_t step = 1; step < steps.size(); ++step) CHECK(steps[0] > steps[step] + 1000000);
}

TEST_CASE("the two-stream sample hides part of its communication, not all") {
  const DeviceTruth device = device_truth(run(two_streams_program())).at(0);
  CHECK(device.communication_exposed_ns > device.communication_union_ns / 5);
  CHECK(device.communication_exposed_ns < device.communication_union_ns * 4 / 5);
  CHECK(device.communication_exposed_ns > device.span_ns / 20);
}
