#include <catch2/catch.hpp>
#include <limits>

#include "libanalysis/quality/plausible_times.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using Catch::Matchers::Contains;

TEST_CASE("times beyond 73 years, and sums beyond them, are refused with their table and row") {
  constexpr std::int64_t kLong = std::int64_t{1} << 61;
  const auto refused = [](const test::TraceBuilder& t) {
    analysis::require_plausible_times(t.build());
  };
  test::TraceBuilder late;
  late.kernel("k", 0, 7, 0, 10);
  late.kernel("k", 0, 7, 5, std::numeric_limits<std::int64_t>::max());
  CHECK_THROWS_WITH(refused(late), Contains("kernel row 1") && Contains("zero of time"));
  CHECK_THROWS_AS(test::analyze_all(late.build()), std::invalid_argument);

  test::TraceBuilder early;
  early.call("cudaMalloc", 1, std::numeric_limits<std::int64_t>::min(), 10);
  CHECK_THROWS_WITH(refused(early), Contains("api_call row 0"));

  test::TraceBuilder many;  // each plausible, not together
  for (int i = 0; i < 3; ++i) many.op("op", i, 1, kLong / 2);
  CHECK_THROWS_WITH(refused(many), Contains("range row 2") && Contains("add up"));

  test::TraceBuilder real;  // 43 s kernels at today's epoch
  for (int i = 0; i < 1000; ++i) {
    real.kernel("k", 0, i, 1'764'597'781'000'000'000, 1'764'597'824'000'000'000);
  }
  CHECK_NOTHROW(refused(real));
}
