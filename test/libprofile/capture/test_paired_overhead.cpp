#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "libprofile/capture/paired_overhead.hpp"

using namespace gprofml::profile;

TEST_CASE("equal pairs have their ratio as estimate and an interval of no width") {
  const PairedOverhead overhead = paired_overhead({{1000, 1030}, {2000, 2060}, {500, 515}});
  CHECK(overhead.estimate == Approx(0.03));
  REQUIRE(overhead.interval);
  CHECK(overhead.interval->low == Approx(0.03));
  CHECK(overhead.interval->high == Approx(0.03));
  CHECK(overhead.without_median_ns == 1000);
  CHECK(overhead.with_median_ns == 1030);
  CHECK_FALSE(paired_overhead({{1000, 1030}}).interval);
  CHECK(paired_overhead({{1000, 1200}, {1001, 1201}}).with_median_ns == 1200);
}

TEST_CASE("two pairs by hand") {
  // Logarithms ln 1.0 and ln 1.1: mean m, s = |ln 1.1| / sqrt 2, reach 12.706 s / sqrt 2.
  const PairedOverhead overhead = paired_overhead({{100, 100}, {100, 110}});
  const double m = std::log(1.1) / 2;
  CHECK(overhead.estimate == Approx(std::exp(m) - 1));
  REQUIRE(overhead.interval);
  CHECK(overhead.interval->high == Approx(std::exp(m + 12.706 * std::log(1.1) / 2) - 1));
  CHECK(overhead.interval->low == Approx(std::exp(m - 12.706 * std::log(1.1) / 2) - 1));
}

TEST_CASE("the interval covers the truth in 95 of 100 series") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> noise(0, 0.02);
  int covered = 0;
  constexpr int kSeries = 2000;
  for (int series = 0; series < kSeries; ++series) {
    std::vector<RunPair> pairs;
    for (int pair = 0; pair < 5; ++pair) {
      pairs.push_back({static_cast<Nanoseconds>(1e9 * std::exp(noise(random))),
                       static_cast<Nanoseconds>(1.04e9 * std::exp(noise(random)))});
    }
    const PairedOverhead overhead = paired_overhead(pairs);
    covered += overhead.interval->low <= 0.04 && 0.04 <= overhead.interval->high ? 1 : 0;
  }
  CHECK(covered > 0.935 * kSeries);
  CHECK(covered < 0.965 * kSeries);
}

TEST_CASE("runs alternate so that a steady drift cancels out") {
  double without = 0, with = 0;
  for (std::size_t run = 0; run < 8; ++run) {
    (is_recorded_run(run) ? with : without) += 100 + static_cast<double>(run);
  }
  CHECK(with == without);
  CHECK_FALSE(is_recorded_run(0));
}
