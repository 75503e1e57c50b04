// The integrity pass on traces with one planted doubt each.
#include <algorithm>
#include <catch2/catch.hpp>

#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;

namespace {

analysis::Quality quality_of(const test::TraceBuilder& t) {
  return test::analyze_all(t.build()).quality;
}

std::string message(const analysis::Quality& q, std::string_view code) {
  for (const analysis::QualityWarning& w : q.warnings) {
    if (w.code == code) return w.message;
  }
  return {};
}

}  // namespace

TEST_CASE("a complete trace has no doubts") {
  test::TraceBuilder t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("k", 0, 7, 20, 30, 1);
  t.call("cudaStreamSynchronize", 1, 12, 40, 2);
  const analysis::Quality q = quality_of(t);
  CHECK(q.calls == 2);
  CHECK(q.submissions == 1);
  CHECK(q.linked == 1);
  CHECK(q.unlinked == 0);
  CHECK(q.coverage == 1.0);
  CHECK(q.warnings.empty());
}

TEST_CASE("calls are counted by (process, correlation id), nested ones with one id once") {
  test::TraceBuilder t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.call("cuLaunchKernel", 1, 2, 8, 1);
  t.call("cudaMalloc", 1, 20, 30, 2);
  t.call("cudaGetDevice", 1, 31, 32);  // no id: not counted
  t.kernel("k", 0, 7, 20, 30, 1);
  const analysis::Quality q = quality_of(t);
  CHECK(q.calls == 2);
  CHECK(q.submissions == 1);
  CHECK(q.linked == 1);
}

TEST_CASE("a launch that returned an error is no lost work, one that returned nothing may be") {
  test::TraceBuilder t;
  for (int i = 0; i < 3; ++i) t.call("cudaLaunchKernel", 1, 100 * i, 100 * i + 10, i);
  t.kernel("k", 0, 7, 20, 30, 0);
  profile::Trace trace = t.build();
  REQUIRE(trace.api_calls.size() == 3);
  trace.api_calls.result = {0, 9, profile::kUnknown};  // 9: cudaErrorInvalidConfiguration
  const analysis::Quality q = test::analyze_all(trace).quality;
  CHECK(q.submissions == 2);
  CHECK(q.linked_submissions == 1);
  CHECK(message(q, "failed_calls").find("1 CUDA call returned an error (1 cudaLaunchKernel)") == 0);
}

TEST_CASE("NVTX events and unfinished records that were lost count as dropped") {
  test::TraceBuilder t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("k", 0, 7, 20, 30, 1);
  profile::Trace trace = t.build();
  for (const char* code : {"ranges_lost", "incomplete_records"}) {
    trace.quality.push_back({0, trace.intern(code), 7, trace.intern("lost")});
  }
  CHECK(test::analyze_all(trace).quality.dropped == 14);
}

TEST_CASE("a launch without its kernel lowers coverage, with a warning") {
  test::TraceBuilder t;
  for (int i = 0; i < 4; ++i) t.call("cudaLaunchKernel", 1, 100 * i, 100 * i + 10, i);
  for (int i = 0; i < 3; ++i) t.kernel("k", 0, 7, 100 * i + 20, 100 * i + 30, i);
  const analysis::Quality q = quality_of(t);
  CHECK(q.submissions == 4);
  CHECK(q.coverage == 0.75);
  CHECK(message(q, "submissions_without_work").find("1 of 4") == 0);
}

TEST_CASE("work whose times cannot be used is no lost work") {
  test::TraceBuilder t;
  for (int i = 0; i < 2; ++i) t.call("cudaLaunchKernel", 1, 100 * i, 100 * i + 10, i);
  t.kernel("k", 0, 7, 20, 30, 0);
  t.kernel("k", 0, 7, 0, 0, 1);
  const analysis::Quality q = quality_of(t);
  CHECK(q.submissions == 2);
  CHECK(q.linked_submissions == 2);
  CHECK(q.no_timestamp == 1);
  CHECK(message(q, "submissions_without_work").empty());
}

TEST_CASE("a fill without a record is told apart from a lost kernel") {
  test::TraceBuilder t;
  t.call("cudaLaunchKernel", 1, 0, 10, 1);
  t.kernel("k", 0, 7, 20, 30, 1);
  t.call("cudaMemsetAsync", 1, 40, 50, 2);
  const analysis::Quality q = quality_of(t);
  CHECK(q.coverage == 0.5);
  CHECK(message(q, "submissions_without_work").empty());
  CHECK(message(q, "fills_without_work").find("1 of 2") == 0);
}

TEST_CASE("kernels without a launch are kept, counted and warned of") {
  test::TraceBuilder t;
  t.call("cudaMalloc", 1, 0, 10, 1);
  t.kernel("k", 0, 7, 20, 30, 99);
  t.kernel("k", 0, 7, 40, 50);
  const analysis::Report report = test::analyze_all(t.build());
  CHECK(report.quality.unlinked == 2);
  CHECK(report.devices.at(0).timeline.kernels == 2);
  CHECK(message(report.quality, "unlinked").find("2 of 2") == 0);
}

TEST_CASE("records without a time stamp take no part in time") {
  test::TraceBuilder t;
  t.kernel("lost", 0, 7, 0, 0);
  t.kernel("k", 0, 7, 1'000'000, 1'000'050);
  const analysis::Report report = test::analyze_all(t.build());
  CHECK(report.quality.no_timestamp == 1);
  CHECK(message(report.quality, "no_timestamp") == "1 record without a timestamp");
  CHECK(report.devices.at(0).timeline.span_ns == 50);
  CHECK(report.window.from_ns == 1'000'000);
}

TEST_CASE(
    "a small overlap on a stream is programmatic dependent launch, a large one is corrected") {
  test::TraceBuilder pdl;
  pdl.kernel("a", 0, 7, 0, 2'000);
  pdl.kernel("b", 0, 7, 1'000, 1'500);  // a ends 500 ns after b's end
  CHECK(quality_of(pdl).overruns == 0);
  test::TraceBuilder impossible;
  impossible.kernel("a", 0, 7, 0, 3'000);
  impossible.kernel("b", 0, 7, 1'000, 1'500);  // 1,500 ns after
  CHECK(quality_of(impossible).overruns == 1);
  test::TraceBuilder graph;  // nodes of one graph launch may do so
  graph.call("cudaGraphLaunch", 1, 0, 1, 5);
  graph.kernel("a", 0, 7, 10, 3'000, 5);
  graph.kernel("b", 0, 7, 1'000, 1'500, 5);
  CHECK(quality_of(graph).overruns == 0);
}

TEST_CASE("work that starts before its launch is counted, warned of, and withholds the verdict") {
  test::TraceBuilder t;
  for (int i = 0; i < 10; ++i) {
    t.call("cudaLaunchKernel", 1, 1'000 * i + 500, 1'000 * i + 600, i);
    t.kernel("k", 0, 7, 1'000 * i + (i < 9 ? 700 : 100), 1'000 * i + 900, i);  // the last is early
  }
  const analysis::Report report = test::analyze_all(t.build());
  CHECK(report.quality.before_launch == 1);
  CHECK(message(report.quality, "before_launch").find("by up to 400 ns") != std::string::npos);
  CHECK(report.verdict.bound == analysis::Bound::unknown);
  CHECK(report.verdict.sentence.find("NOT JUDGED: 1 of 10") == 0);
}

TEST_CASE(
    "what the reader left out is said, and no trace that was not understood is called empty") {
  profile::Trace trace;
  trace.processes.push_back({});
  const auto note = [&](const char* code, std::int64_t count, const char* detail) {
    profile::QualityNote n;
    n.process = 0;
    n.code = trace.intern(code);
    n.count = count;
    n.detail = trace.intern(detail);
    trace.quality.push_back(n);
  };
  note("ignored_category", 7, "ac2g");
  CHECK(test::analyze_all(trace).quality.warnings.empty());
  note("ignored_category", 3'689, "cuda");
  note("bad_event", 2, "the first at byte 149: its duration is negative");
  const analysis::Report report = test::analyze_all(trace);
  CHECK(message(report.quality, "unknown_category").find("cuda (3689)") != std::string::npos);
  CHECK(message(report.quality, "bad_event").find("2 events could not be read") == 0);
  CHECK(report.quality.dropped == 2);
  CHECK(report.verdict.sentence.find("not all of the file could be") != std::string::npos);
}

TEST_CASE("a captured launch is no submission: its work runs when the graph is launched") {
  test::TraceBuilder t;
  t.range(profile::RangeKind::push_pop, "capture", 1, 0, 100);
  t.call("cudaLaunchKernel", 1, 10, 20, 1);  // row 0: captured
  t.call("cuLaunchKernel", 1, 12, 18, 1);    // row 1: inside it
  t.captured(3, 1, "capture", 1);
  t.call("cudaLaunchKernel", 1, 30, 40, 2);  // lost its work
  t.call("cudaGraphLaunch", 1, 200, 210, 3);
  t.replayed("k", 3, 1, 7, 220, 230, 3);
  const analysis::Report report = test::analyze_all(t.build());
  CHECK(report.quality.submissions == 2);
  CHECK(report.quality.linked_submissions == 1);
}
