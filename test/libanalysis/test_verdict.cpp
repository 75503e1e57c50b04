// The sentence at the top must not blame what the data cannot show.
#include <catch2/catch.hpp>
#include <string>

#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;

namespace {

constexpr std::int64_t us = 1000;

/// Ten periods of 100 us: a kernel of `busy_us` a period, launched without any call that waits.
analysis::Report polling(std::int64_t busy_us) {
  test::TraceBuilder t;
  for (int i = 0; i < 10; ++i) {
    t.call("cudaLaunchKernel", 1, 100 * i * us, (100 * i + 2) * us, i);
    t.kernel("k", 0, 7, (100 * i + 3) * us, (100 * i + 3 + busy_us) * us, i);
  }
  return test::analyze_all(t.build());
}

}  // namespace

TEST_CASE("a path on the host beside a GPU that hardly rests blames nobody") {
  const analysis::Report report = polling(96);
  CHECK(report.verdict.bound == analysis::Bound::unknown);
  CHECK(report.verdict.sentence.find("NOT JUDGED: the GPU is busy 96 %") == 0);
  CHECK(report.verdict.sentence.find("cudaEventQuery") != std::string::npos);
}

TEST_CASE("a path on the host beside a GPU that rests is the host's") {
  const analysis::Report report = polling(50);
  CHECK(report.verdict.bound == analysis::Bound::host);
}

TEST_CASE("calls on the path are named, longest first, and add up") {
  test::TraceBuilder t;
  t.call("cudaMalloc", 1, 0, 10 * us, 90);  // the process's first call
  for (int i = 1; i < 5; ++i) {
    t.call("cudaFree", 1, 100 * i * us, (100 * i + 10) * us, 10 * i + 1);
    t.call("cudaMalloc", 1, (100 * i + 10) * us, (100 * i + 50) * us, 10 * i + 2);
    t.call("cudaLaunchKernel", 1, (100 * i + 50) * us, (100 * i + 52) * us, 10 * i + 3);
    t.kernel("k", 0, 7, (100 * i + 53) * us, (100 * i + 60) * us, 10 * i + 3);
  }
  const analysis::Report report = test::analyze_all(t.build());
  REQUIRE(report.path_calls.size() == 3);
  CHECK(report.path_calls[0].name == "cudaMalloc");
  CHECK(report.path_calls[0].path_ns == 160 * us);
  CHECK(report.path_calls[1].path_ns + report.path_calls[2].path_ns == 50 * us);
  const auto runtime_call = static_cast<std::size_t>(analysis::TimeClass::runtime_call);
  CHECK(report.critical_path.by_class[runtime_call] == 210 * us);
}
