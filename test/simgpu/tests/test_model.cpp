// The model file: what is refused, and where the message points.
#include "test/simgpu/engine/model.hpp"

#include <catch2/catch.hpp>

using namespace gprofml::simgpu;

namespace {

std::string why(const std::string& json) {
  try {
    parse_model(json);
  } catch (const ModelError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("the built-in model is valid") {
  CHECK(why(default_model_json()) == "");
}

TEST_CASE("a bad model names the path of what is wrong") {
  CHECK(why("[]") == "/: must be an object");
  CHECK(why("{") == "no JSON at byte 2");
  CHECK(why(R"({"sed": 1})") == "/sed: no such key");
  CHECK(why(R"({"seed": "x"})") == "/seed: must be a whole number");
  CHECK(why(R"({"calls": {"cuInit": -1}})") == "/calls/cuInit: must be from 0 to 3600000000000");
  CHECK(why(R"({"kernels": [{"pattern": "("}]})")
            .rfind("/kernels/0/pattern: is no regular expression", 0) == 0);
  CHECK(why(R"({"kernels": [{}]})") == "/kernels/0: lacks \"pattern\"");
  CHECK(why(R"({"devices": [{"name": "x", "uuid": "12", "compute_capability": [9, 0]}]})") ==
        "/devices/0/uuid: must be a UUID of 32 hexadecimal digits");
  CHECK(why(R"({"fill": {"bytes_per_us": 0}})") ==
        "/fill/bytes_per_us: must be from 1 to 1099511627776");
}

TEST_CASE("a kernel takes what its rule says, jitter stays within its bound") {
  const Model model = parse_model(
      R"({"kernels": [{"pattern": "gemm", "fixed_ns": 1000, "ns_per_block": 2.5, "ns_per_thread": 0.5},
                      {"pattern": "", "fixed_ns": 10000, "jitter_permille": 50}]})");
  CHECK(kernel_duration_ns(model, model.rule_of("_Z4gemmv"), "_Z4gemmv", 4, 8, 0) == 1014);
  const KernelRule& other = model.rule_of("_Z5otherv");
  std::int64_t least = 1'000'000;
  std::int64_t most = 0;
  for (std::uint64_t instance = 0; instance < 1000; ++instance) {
    const std::int64_t duration = kernel_duration_ns(model, other, "_Z5otherv", 1, 1, instance);
    CHECK(duration == kernel_duration_ns(model, other, "_Z5otherv", 1, 1, instance));
    least = std::min(least, duration);
    most = std::max(most, duration);
  }
  CHECK(least == 9500);
  CHECK(most == 10500);
}

TEST_CASE("CUDA_VISIBLE_DEVICES chooses by index and UUID and stops at what is unknown") {
  const Model model =
      parse_model(R"({"devices": [{"name": "a", "count": 3, "compute_capability": [9, 0],
      "uuid": "000000000000000000000000000000ff"}]})");
  REQUIRE(model.devices.size() == 3);
  CHECK(model.devices[1].uuid[14] == 1);
  CHECK(model.devices[1].uuid[15] == 0);
  CHECK(visible_devices(model, nullptr).size() == 3);
  CHECK(visible_devices(model, "").empty());
  CHECK(visible_devices(model, "2,0").front().pci_bus == 3);
  CHECK(visible_devices(model, "0,7,1").size() == 1);
  const auto by_uuid = visible_devices(model, "GPU-00000000-0000-0000-0000-000000000101");
  REQUIRE(by_uuid.size() == 1);
  CHECK(by_uuid[0].pci_bus == 3);
}
