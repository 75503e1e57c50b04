#include <catch2/catch.hpp>
#include <numeric>
#include <random>

#include "libanalysis/report/apportion.hpp"

namespace gprofml::analysis {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::int64_t{0});
}

TEST_CASE("to_units rounds to nearest, halves up") {
  CHECK(to_units(149, {1, 100}) == 1);
  CHECK(to_units(150, {1, 100}) == 2);
  CHECK(to_units(0, {1, 100}) == 0);
  CHECK(to_units(1, {1000, 3}) == 333);
  CHECK(to_units(9'000'000'000'000'000'000, {1000, 9'000'000'000'000'000'000}) == 1000);
}

TEST_CASE("thirds of a hundred percent") {
  CHECK(apportion({1, 1, 1}, {1000, 3}, 1000) == std::vector<std::int64_t>{334, 333, 333});
}

TEST_CASE("the largest remainder gets the missing unit, whatever its place") {
  CHECK(apportion({14, 16, 70}, {1, 10}, 10) == std::vector<std::int64_t>{1, 2, 7});
}

TEST_CASE("nothing to divide") {
  CHECK(apportion({}, {1, 10}, 0).empty());
  CHECK(apportion({0, 0}, {1, 10}, 0) == std::vector<std::int64_t>{0, 0});
}

TEST_CASE("parts add up to the total, each less than one unit off, and zero stays zero") {
  std::mt19937_64 random(20240917);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::int64_t> parts(1 + random() % 12);
    for (std::int64_t& part : parts)
      part = random() % 4 == 0 ? 0 : std::int64_t(random() % 100'000);
    const std::int64_t quantum = 1 + std::int64_t(random() % 5'000);
    const std::int64_t total = to_units(sum(parts), {1, quantum});
    const std::vector<std::int64_t> units = apportion(parts, {1, quantum}, total);
    REQUIRE(sum(units) == total);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      REQUIRE(units[i] * quantum - parts[i] < quantum);
      REQUIRE(parts[i] - units[i] * quantum < quantum);
      if (parts[i] == 0) REQUIRE(units[i] == 0);
    }
  }
}

}  // namespace
}  // namespace gprofml::analysis
