#include <catch2/catch.hpp>

#include "libanalysis/serving/requests.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

namespace gprofml::test {
namespace {

using analysis::DurationQuantiles;
using analysis::Serving;
using profile::RangeKind;

constexpr auto kNested = RangeKind::push_pop;
constexpr auto kFree = RangeKind::start_end;

/// A request from `start` on thread 1 with a prefill of 100 and tokens that end at these times.
void request(TraceBuilder& builder, std::int64_t start, std::int64_t end,
             const std::vector<std::int64_t>& token_ends, std::int64_t thread = 1) {
  builder.range(kNested, "request", thread, start, end);
  builder.range(kNested, "prefill", thread, start, start + 100);
  for (const std::int64_t token_end : token_ends) {
    builder.range(kNested, "token", thread, token_end - 10, token_end);
  }
}

std::optional<Serving> served(const profile::Trace& trace, const analysis::Window& window = {},
                              const analysis::ServingNames& names = {}) {
  return analysis::serving_of(trace, window, names);
}

DurationQuantiles all(std::int64_t count, std::int64_t value) {
  return {count, value, value, value};
}

TEST_CASE("times of one request, worked out by hand") {
  TraceBuilder builder;
  request(builder, 1000, 1900, {1250, 1400, 1700, 1801});
  const Serving serving = *served(builder.build());
  CHECK(serving.requests == 1);
  CHECK(serving.judged == 1);
  CHECK(serving.tokens == 4);
  CHECK(serving.span_ns == 900);
  CHECK(serving.latency == all(1, 900));
  CHECK(serving.ttft == all(1, 250));
  CHECK(serving.tpot == all(1, 184));  // 551 / 3 = 183.67, to the nearest
  CHECK(serving.ttft_by_prefill == 0);
  CHECK(serving.left_out.empty());
}

TEST_CASE("times at today's epoch are exact") {
  constexpr std::int64_t kEpoch = 1'764'597'781'000'000'001;
  TraceBuilder builder;
  request(builder, kEpoch, kEpoch + 1001, {kEpoch + 333, kEpoch + 1000});
  const Serving serving = *served(builder.build());
  CHECK(serving.ttft == all(1, 333));
  CHECK(serving.tpot == all(1, 667));
}

TEST_CASE("percentiles are of nearest rank over the requests") {
  TraceBuilder builder;
  for (std::int64_t k = 1; k <= 100; ++k) {
    const std::int64_t start = k * 100'000;
    request(builder, start, start + 5000, {start + 100 + k, start + 100 + 3 * k});
  }
  const Serving serving = *served(builder.build());
  CHECK(serving.ttft == DurationQuantiles{100, 150, 195, 199});
  CHECK(serving.tpot == DurationQuantiles{100, 101, 190, 198});
  CHECK(serving.tokens == 200);
  CHECK(serving.span_ns == 99 * 100'000 + 5000);
}

TEST_CASE("a request without tokens has the end of its last prefill as TTFT and no TPOT") {
  TraceBuilder builder;
  request(builder, 1000, 2000, {});
  builder.range(kNested, "prefill", 1, 1200, 1500);
  request(builder, 3000, 4000, {3600});
  const Serving serving = *served(builder.build());
  CHECK(serving.ttft == DurationQuantiles{2, 550, 600, 600});
  CHECK(serving.ttft_by_prefill == 1);
  CHECK_FALSE(serving.tpot);
}

TEST_CASE("a request with nothing in it is left out") {
  TraceBuilder builder;
  request(builder, 1000, 2000, {1500, 1600});
  builder.range(kNested, "request", 1, 3000, 3100);
  builder.range(kNested, "token", 1, 4000, 4100);  // nobody's
  const Serving serving = *served(builder.build());
  CHECK(serving.requests == 2);
  CHECK(serving.judged == 1);
  CHECK(serving.tokens == 2);
  REQUIRE(serving.left_out.size() == 1);
  CHECK(serving.left_out[0].count == 1);
  CHECK(serving.left_out[0].why == "without a token or prefill range");
}

TEST_CASE("threads that serve at the same time nest their own tokens") {
  TraceBuilder builder;
  request(builder, 1000, 2000, {1200, 1300}, 1);
  request(builder, 1050, 2100, {1450, 1650}, 2);
  const Serving serving = *served(builder.build());
  CHECK(serving.judged == 2);
  CHECK(serving.ambiguous == 0);
  CHECK(serving.ttft == DurationQuantiles{2, 300, 400, 400});
}

TEST_CASE("tokens of another thread belong to the only request of their time") {
  TraceBuilder builder;
  builder.range(kFree, "request", 1, 1000, 2000);
  builder.range(kNested, "token", 2, 1100, 1300);
  builder.range(kNested, "token", 2, 1300, 1500);
  builder.range(kFree, "request", 1, 2000, 3000);
  builder.range(kNested, "token", 2, 2400, 2600);
  const Serving serving = *served(builder.build());
  CHECK(serving.judged == 2);
  CHECK(serving.ttft == DurationQuantiles{2, 450, 600, 600});
  CHECK(serving.tpot == all(1, 200));
}

TEST_CASE("a batch is not judged: whose tokens they are is not known") {
  TraceBuilder builder;
  builder.range(kFree, "request", 1, 1000, 2000);
  builder.range(kFree, "request", 1, 1100, 2100);
  builder.range(kNested, "token", 2, 1200, 1300);
  builder.range(kFree, "request", 1, 5000, 6000);  // alone again
  builder.range(kNested, "token", 2, 5200, 5300);
  const profile::Trace trace = builder.build();
  const Serving serving = *served(trace);
  CHECK(serving.ambiguous == 1);
  CHECK(serving.judged == 1);
  CHECK(serving.tokens == 1);
  CHECK(serving.ttft == all(1, 300));
  REQUIRE(serving.left_out.size() == 1);
  CHECK(serving.left_out[0].count == 2);
}

TEST_CASE("a report of batches alone says what is missing") {
  TraceBuilder builder;
  builder.kernel("k", 0, 7, 1000, 1100);
  builder.range(kFree, "request", 1, 1000, 2000);
  builder.range(kFree, "request", 1, 1100, 2100);
  builder.range(kNested, "token", 2, 1200, 1300);
  const analysis::Report report = analyze_all(builder.build());
  CHECK(report.serving.requests == 2);
  CHECK(report.serving.judged == 0);
  CHECK_FALSE(report.serving.ttft);
  CHECK(std::any_of(report.abstained.begin(), report.abstained.end(),
                    [](const analysis::Abstention& a) { return a.rule == "TTFT, TPOT"; }));
}

TEST_CASE("a long request does not hide a short one before it") {
  TraceBuilder builder;
  builder.range(kFree, "request", 1, 1000, 9000);
  builder.range(kFree, "request", 3, 1100, 1200);
  builder.range(kNested, "token", 2, 8000, 8100);
  const Serving serving = *served(builder.build());
  CHECK(serving.judged == 1);
  CHECK(serving.ttft == all(1, 7100));
}

TEST_CASE("a window of steps or of a range leaves out what reaches over it") {
  TraceBuilder builder;
  request(builder, 1000, 2000, {1500});
  request(builder, 3000, 4000, {3500});
  request(builder, 5000, 6000, {5500});
  analysis::Window window;
  window.kind = analysis::WindowKind::range;
  window.from_ns = 2500;
  window.to_ns = 5999;
  const Serving serving = *served(builder.build(), window);
  CHECK(serving.requests == 3);
  CHECK(serving.judged == 1);
  REQUIRE(serving.left_out.size() == 1);
  CHECK(serving.left_out[0] == analysis::RequestsLeftOut{"not wholly in the window", 2});
}

TEST_CASE("of a recording in windows what was cut off is left out, and the gap is no time") {
  TraceBuilder builder;
  request(builder, 1000, 2000, {1500});
  request(builder, 3000, 4000, {3500});
  request(builder, 5000, 6000, {5500});
  profile::Trace trace = builder.build();
  const auto add_window = [&](std::int64_t from, std::int64_t to) {
    trace.windows.start_ns.push_back(from);
    trace.windows.end_ns.push_back(to);
    trace.windows.process.push_back(0);
    trace.windows.reason.push_back(0);
  };
  add_window(900, 2100);
  add_window(3200, 6000);
  const Serving serving = *served(trace);
  CHECK(serving.judged == 2);
  REQUIRE(serving.left_out.size() == 1);
  CHECK(serving.left_out[0].why == "not recorded from start to end");
  CHECK(serving.span_ns == (2100 - 1000) + (6000 - 3200));
}

TEST_CASE("names may be others, and numbered") {
  TraceBuilder builder;
  builder.range(kNested, "ask#17", 1, 1000, 2000);
  builder.range(kNested, "word 3", 1, 1100, 1200);
  builder.range(kNested, "words", 1, 1300, 1400);
  builder.range(kNested, "word 3b", 1, 1500, 1600);
  const profile::Trace trace = builder.build();
  CHECK_FALSE(served(trace));
  const Serving serving = *served(trace, {}, {"ask", "read", "word"});
  CHECK(serving.judged == 1);
  CHECK(serving.tokens == 1);
  CHECK(serving.ttft == all(1, 200));
  CHECK_THROWS_AS(served(trace, {}, {"ask", "word", "word"}), std::invalid_argument);
}

TEST_CASE("ranges that end before their GPU work are counted") {
  TraceBuilder builder;
  request(builder, 1000, 4000, {1500, 2000, 2500});
  builder.call("cudaLaunchKernel", 1, 1492, 1495, 1);
  builder.kernel("in time", 0, 7, 1496, 1500, 1);
  builder.call("cudaLaunchKernel", 1, 1992, 1995, 2);
  builder.kernel("late", 0, 7, 1996, 2001, 2);
  builder.call("cudaLaunchKernel", 1, 2600, 2605, 3);  // in no token
  builder.kernel("outside", 0, 7, 2700, 3000, 3);
  const Serving serving = *served(builder.build());
  CHECK(serving.ended_before_gpu == 1);
}

TEST_CASE("without a request range there is nothing to say") {
  TraceBuilder builder;
  builder.range(kNested, "token", 1, 1000, 1100);
  builder.range(RangeKind::python_function, "request", 1, 1000, 1100);
  CHECK_FALSE(served(builder.build()));
}

}  // namespace
}  // namespace gprofml::test
