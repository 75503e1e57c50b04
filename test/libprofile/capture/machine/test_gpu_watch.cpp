#include <catch2/catch.hpp>
#include <cstdlib>

#include "libprofile/capture/machine/gpu_watch.hpp"

namespace gprofml::profile {
namespace {

class Planted {
 public:
  Planted(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Planted() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST_CASE("Clocks, power, heat and load are those that NVML tells of each GPU") {
  GpuWatch watch(FAKE_MACHINE_NVML);
  REQUIRE(watch.uuids() == std::vector<std::string>{"GPU-00000000-0000-0000-0000-000000000001",
                                                    "GPU-00000000-0000-0000-0000-000000000002"});
  const auto samples = watch.look(77, {});
  REQUIRE(samples.size() == 2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const spool::GpuSample& sample = samples[i];
    const int n = static_cast<int>(i);
    CHECK(sample.time_ns == 77);
    CHECK(sample.gpu == i);
    CHECK(sample.sm_clock_mhz == 1500 + n);
    CHECK(sample.memory_clock_mhz == 2600 + n);
    CHECK(sample.power_mw == 350000 + n);
    CHECK(sample.temperature_c == 60 + n);
    CHECK(sample.throttle_reasons == (n == 0 ? 0x24 : 0));
    CHECK(sample.memory_used_bytes == 40 + n);
    CHECK(sample.busy_percent == (n == 0 ? 87 : spool::kNotTold));
  }
}

TEST_CASE("What a driver does not tell stays unknown") {
  GpuWatch watch(FAKE_MACHINE_NVML_FEW);
  const Planted pids("FAKE_NVML_PIDS", "10");
  const auto samples = watch.look(1, {10});
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].memory_used_bytes == spool::kNotTold);
  CHECK(samples[0].foreign_processes == spool::kNotTold);
  CHECK(samples[0].sm_clock_mhz == 1500);
}

TEST_CASE("Foreign are those on a GPU that are not recorded, once ours have been seen there") {
  const Planted pids("FAKE_NVML_PIDS", "10,20,30");
  CHECK(GpuWatch(FAKE_MACHINE_NVML).look(1, {20})[0].foreign_processes == 2);
  CHECK(GpuWatch(FAKE_MACHINE_NVML).look(1, {20})[1].foreign_processes == 0);
  CHECK(GpuWatch(FAKE_MACHINE_NVML).look(1, {10, 20, 30})[0].foreign_processes == 0);
  // In a container NVML's ids are the host's: none of ours is ever among them.
  CHECK(GpuWatch(FAKE_MACHINE_NVML).look(1, {7})[0].foreign_processes == spool::kNotTold);
}

TEST_CASE("Without a working NVML there is no GPU to look at") {
  CHECK(GpuWatch("libno-such-library.so").uuids().empty());
  const Planted broken("FAKE_NVML_BROKEN", "1");
  CHECK(GpuWatch(FAKE_MACHINE_NVML).uuids().empty());
}

}  // namespace
}  // namespace gprofml::profile
