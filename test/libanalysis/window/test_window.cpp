// Steps and windows on traces worked out by hand. Times in microseconds unless said otherwise.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using profile::RangeKind;
using test::us;
using Kind = analysis::WindowRequest::Kind;

namespace {

// `steps` steps of 100 us, each launching two kernels and ending with a synchronisation; step 0
// takes 50 us longer. Load of 500 us before, one kernel after.
test::TraceBuilder training(int steps, const char* mark = "ProfilerStep#",
                            RangeKind kind = RangeKind::annotation) {
  test::TraceBuilder t;
  t.call("cudaMalloc", 1, 0, 500 * us, 1000);
  std::int64_t at = 1000 * us;
  int id = 1;
  for (int s = 0; s < steps; ++s) {
    const std::int64_t length = (s == 0 ? 150 : 100) * us;
    const std::string name =
        mark == std::string("ProfilerStep#") ? fmt::format("{}{}", mark, s) : mark;
    t.range(kind, name, 1, at, at + length - 2 * us);
    for (int k = 0; k < 2; ++k, ++id) {
      const std::int64_t launch = at + (10 + 20 * k) * us;
      t.call("cudaLaunchKernel", 1, launch, launch + 5 * us, id);
      t.kernel(k == 0 ? "gemm" : "norm", 0, 7, launch + 8 * us, launch + 18 * us, id);
    }
    t.call("cudaStreamSynchronize", 1, at + 50 * us, at + 60 * us, 10000 + s);
    at += length;
  }
  t.call("cudaLaunchKernel", 1, at + 10 * us, at + 15 * us, id);
  t.kernel("after", 0, 7, at + 18 * us, at + 20 * us, id);
  return t;
}

}  // namespace

TEST_CASE("profiler marks: times are start to start, the first of few is warm-up") {
  const analysis::Report report = test::analyze_window(training(6).build(), Kind::automatic);
  const analysis::Steps& steps = report.steps;
  CHECK(steps.count == 6);
  CHECK(steps.source == "ranges:ProfilerStep");
  CHECK(steps.median_ns == 100 * us);
  CHECK(steps.p99_ns == 150 * us);
  CHECK(steps.launches == 2);
  CHECK(steps.signature.identical == 6);
  CHECK(steps.signature.of == 6);
  REQUIRE(steps.outliers.size() == 1);
  CHECK(steps.outliers[0].index == 0);
  // from the first kernel of step 1 to the kernel launched after the last step
  CHECK(report.window.kind == analysis::WindowKind::steps);
  CHECK(report.window.from_ns == (1150 + 18) * us);
  CHECK(report.window.to_ns == (1650 + 18) * us);
  CHECK(report.window.sink_at_edge);
  CHECK(report.critical_path.window_ns == 500 * us);
  CHECK(report.critical_path.segments_total_ns == 500 * us);
  CHECK(report.devices.at(0).timeline.kernels == 10);
  CHECK(report.devices.at(0).timeline.span_ns == 500 * us);
}

TEST_CASE("what is left out adds up to the whole") {
  const analysis::Report report = test::analyze_window(training(6).build(), Kind::steps);
  std::int64_t left_out = 0;
  for (const analysis::LeftOut& l : report.window.left_out) left_out += l.duration_ns;
  CHECK(left_out + (report.window.to_ns - report.window.from_ns) ==
        report.run.end_ns - report.run.start_ns);
}

TEST_CASE("a range that repeats with a host action in each period is a step") {
  const analysis::Report report = test::analyze_window(training(6, "decode").build(), Kind::steps);
  CHECK(report.steps.source == "ranges:decode");
  CHECK(report.steps.count == 6);
  CHECK(report.steps.median_ns == 100 * us);

  // too few, or overlapping, or without a host action: none
  CHECK(test::analyze_all(training(4, "decode").build()).steps.count == 0);
  test::TraceBuilder overlapping = training(6, "decode");
  overlapping.range(RangeKind::annotation, "decode", 1, 1010 * us, 1160 * us);
  CHECK(test::analyze_all(overlapping.build()).steps.count == 0);
  test::TraceBuilder layers;
  for (int i = 0; i < 8; ++i) {
    layers.range(RangeKind::annotation, "layer", 1, 100 * i * us, (100 * i + 99) * us);
    layers.call("cudaLaunchKernel", 1, (100 * i + 10) * us, (100 * i + 15) * us, i);
    layers.kernel("k", 0, 7, (100 * i + 20) * us, (100 * i + 90) * us, i);
  }
  CHECK(test::analyze_all(layers.build()).steps.count == 0);
}

TEST_CASE("a range that comes close to a step is proposed by name") {
  test::TraceBuilder t;
  for (int i = 0; i < 8; ++i) {
    t.range(RangeKind::push_pop, "train_step", 1, 100 * i * us, (100 * i + 40) * us);
    t.range(RangeKind::push_pop, "load", 1, (100 * i + 50) * us, (100 * i + 60) * us);
    t.call("cudaLaunchKernel", 1, (100 * i + 10) * us, (100 * i + 15) * us, i);
    t.kernel("k", 0, 7, (100 * i + 20) * us, (100 * i + 90) * us, i);
  }
  const analysis::Report report = test::analyze_all(t.build());
  CHECK(report.steps.count == 0);
  CHECK(report.steps.candidate == "train_step");
  bool proposed = false;
  for (const analysis::Abstention& a : report.abstained) {
    if (a.rule == "steps") {
      proposed = a.switch_to_record.find("--range 'train_step'") != std::string::npos;
    }
  }
  CHECK(proposed);
}

TEST_CASE("NVTX ranges of both kinds are steps and ops") {
  const RangeKind kind = GENERATE(RangeKind::push_pop, RangeKind::start_end);
  test::TraceBuilder t = training(12, "decode_step", kind);
  t.range(kind, "attention", 1, 1200 * us, 1230 * us);  // holds one launch
  const analysis::Report report = test::analyze_window(t.build(), Kind::automatic);
  CHECK(report.steps.count == 12);
  CHECK(report.steps.source == "ranges:decode_step");
  CHECK(report.window.kind == analysis::WindowKind::steps);
  const analysis::Report all = test::analyze_all(t.build());
  REQUIRE_FALSE(all.ops.empty());
  CHECK(all.ops[0].path == "decode_step");
  CHECK(all.ops[0].count == 12);
  CHECK(all.ops[0].kernels == 24);
}

TEST_CASE("steps by the name of a range, however few") {
  const profile::Trace trace = training(3, "decode").build();
  const analysis::Report report = test::analyze_window(trace, Kind::steps, "decode");
  CHECK(report.steps.count == 3);
  CHECK(report.steps.source == "ranges:decode");
  CHECK_THROWS_WITH(test::analyze_window(trace, Kind::steps, "prefill"),
                    Catch::Matchers::Contains("no range is named 'prefill'"));
}

TEST_CASE("only whole steps count: without work after it the last one ends the window") {
  const profile::Trace trace = training(6).build();
  CHECK(test::analyze_window(trace, Kind::steps).window.steps == 5);
  // the same without the kernel that was launched after the last step
  test::TraceBuilder t;
  std::int64_t at = 0;
  for (int s = 0; s < 6; ++s) {
    t.range(RangeKind::annotation, fmt::format("ProfilerStep#{}", s), 1, at, at + 100 * us);
    t.call("cudaLaunchKernel", 1, at + 60 * us, at + 65 * us, s);  // late: data is loaded before
    t.kernel("k", 0, 7, at + 70 * us, at + 80 * us, s);
    at += 100 * us;
  }
  const analysis::Report report = test::analyze_window(t.build(), Kind::automatic);
  CHECK(report.window.steps == 4);  // 1 to 4; 0 warms up
  CHECK(report.window.to_ns - report.window.from_ns == 400 * us);
}

TEST_CASE("one step, or one whole period, is no reason to look at less than everything") {
  for (const int steps : {1, 2}) {
    test::TraceBuilder t;
    t.call("cudaMalloc", 1, 0, 900 * us, 1000);
    for (int s = 0; s < steps; ++s) {
      t.range(RangeKind::annotation, fmt::format("ProfilerStep#{}", s), 1, s * 1000 * us,
              (s + 1) * 1000 * us);
      t.call("cudaLaunchKernel", 1, (s * 1000 + 950) * us, (s * 1000 + 955) * us, s);
      t.kernel("k", 0, 7, (s * 1000 + 960) * us, (s * 1000 + 970) * us, s);
    }
    const analysis::Report report = test::analyze_window(t.build(), Kind::automatic);
    CHECK(report.steps.count == steps);
    CHECK(report.window.kind == analysis::WindowKind::all);
  }
}

TEST_CASE("work that overlaps the window counts whole in sums, clipped in unions") {
  test::TraceBuilder t;
  t.kernel("before", 0, 7, 0, 100 * us);
  t.kernel("across", 0, 8, 90 * us, 150 * us);
  t.kernel("inside", 0, 7, 120 * us, 130 * us);
  t.kernel("after", 0, 7, 200 * us, 210 * us);
  t.range(RangeKind::annotation, "part", 1, 100 * us, 200 * us);
  const analysis::Report report = test::analyze_window(t.build(), Kind::range, "part");
  const analysis::DeviceTimeline& d = report.devices.at(0).timeline;
  CHECK(d.kernels == 2);
  CHECK(d.kernel_ns == 70 * us);
  CHECK(d.kernel_union_ns == 50 * us);
  std::int64_t table = 0;
  for (const analysis::KernelStatistics& k : report.kernels) table += k.total_ns;
  CHECK(table == d.kernel_ns);
  CHECK(d.kernel_ns >= d.kernel_union_ns);
}

TEST_CASE("a window of one range holds its host time and the work it launched") {
  const profile::Trace trace = training(3, "decode").build();
  const analysis::Report second = test::analyze_window(trace, Kind::range, "decode#1");
  CHECK(second.window.from_ns == 1150 * us);
  CHECK(second.window.to_ns == 1248 * us);
  CHECK(second.devices.at(0).timeline.kernels == 2);
  CHECK(second.devices.at(0).timeline.busy_ns == 20 * us);
  CHECK(second.critical_path.segments_total_ns == 98 * us);
  const auto& idle = second.devices.at(0).timeline.idle_by_cause;
  std::int64_t sum = 0;
  for (const std::int64_t ns : idle) sum += ns;
  CHECK(sum == second.devices.at(0).timeline.idle_ns);
  CHECK_THROWS_WITH(test::analyze_window(trace, Kind::range, "decode#9"),
                    Catch::Matchers::Contains("occurs 3 times"));
  CHECK_THROWS_WITH(test::analyze_window(trace, Kind::range, "nothing"),
                    Catch::Matchers::Contains("no range is named 'nothing'"));
}

TEST_CASE("an exact name wins over name#k") {
  test::TraceBuilder t = training(3, "decode");
  t.range(RangeKind::annotation, "decode#1", 1, 2000 * us, 2010 * us);
  CHECK(test::analyze_window(t.build(), Kind::range, "decode#1").window.from_ns == 2000 * us);
}

TEST_CASE("without steps, asking for them is an error and asking for nothing is everything") {
  test::TraceBuilder t;
  t.call("cudaLaunchKernel", 1, 0, 5 * us, 1);
  t.kernel("k", 0, 7, 8 * us, 20 * us, 1);
  CHECK_THROWS_WITH(test::analyze_window(t.build(), Kind::steps),
                    Catch::Matchers::Contains("no steps were found"));
  CHECK(test::analyze_window(t.build(), Kind::automatic).window.kind == analysis::WindowKind::all);
}

TEST_CASE("steady steps of a long run begin where the rolling median has settled") {
  test::TraceBuilder t;
  std::int64_t at = 0;
  for (int s = 0; s < 60; ++s) {
    const std::int64_t length = (s < 20 ? 200 - 5 * s : 100) * us;  // warms up over 20 steps
    t.range(RangeKind::annotation, fmt::format("ProfilerStep#{}", s), 1, at, at + length);
    t.call("cudaLaunchKernel", 1, at + 5 * us, at + 8 * us, s);
    t.kernel("k", 0, 7, at + 10 * us, at + 40 * us, s);
    at += length;
  }
  const analysis::Report report = test::analyze_window(t.build(), Kind::automatic);
  const auto warm = std::count_if(report.steps.steps.begin(), report.steps.steps.end(),
                                  [](const analysis::Step& s) { return !s.steady; });
  // ten steps from k: median (d[k+4] + d[k+5]) / 2 <= 105 first at k = 15: (105 + 100) / 2
  CHECK(warm == 15);
}

namespace {

// Six steps of which 0 and 3 to 5 were recorded: what is between has no records.
profile::Trace recorded_in_two_windows() {
  profile::Trace trace = training(6).build();
  const auto window = [&](std::int64_t from, std::int64_t to) {
    trace.windows.start_ns.push_back(from);
    trace.windows.end_ns.push_back(to);
    trace.windows.process.push_back(0);
    trace.windows.reason.push_back(trace.intern("control"));
  };
  window(1000 * us, 1150 * us);
  window(1350 * us, 1650 * us);
  return trace;
}

}  // namespace

TEST_CASE("recorded in windows: the steps are those of the longest") {
  const analysis::Report report = test::analyze_window(recorded_in_two_windows(), Kind::automatic);
  CHECK(report.window.recorded_windows == 2);
  CHECK(report.window.kind == analysis::WindowKind::steps);
  CHECK(report.window.from_ns == (1350 + 18) * us);
  // The kernel that ends the last step starts after the window: cut off there.
  CHECK(report.window.to_ns == 1650 * us);
  CHECK_FALSE(report.window.sink_at_edge);
  REQUIRE(report.window.left_out.size() == 1);
  CHECK(report.window.left_out[0].duration_ns == 150 * us);
}

TEST_CASE("recorded in windows: all is the longest, and nothing reaches over the gap") {
  const analysis::Report report = test::analyze_window(recorded_in_two_windows(), Kind::all);
  CHECK(report.window.from_ns == 1350 * us);
  CHECK(report.window.to_ns == 1650 * us);
  REQUIRE(report.devices.size() == 1);
  CHECK(report.devices[0].timeline.span_ns == 300 * us);
  CHECK(report.devices[0].timeline.busy_ns == 6 * 10 * us);
}

TEST_CASE("recorded all along: no windows") {
  CHECK(test::analyze_window(training(6).build(), Kind::all).window.recorded_windows == 0);
}

TEST_CASE("recorded in windows: no period reaches over a gap, and none is an outlier for it") {
  // Twelve steps, 0 of 150 us, the others of 100; recorded were 0 to 3, half of 4, and 8 to 11.
  profile::Trace trace = training(12).build();
  const auto window = [&](std::int64_t from, std::int64_t to) {
    trace.windows.start_ns.push_back(from);
    trace.windows.end_ns.push_back(to);
    trace.windows.process.push_back(0);
    trace.windows.reason.push_back(trace.intern("control"));
  };
  const std::int64_t first = trace.ranges.start_ns.front();
  window(first, first + 500 * us);
  window(first + 850 * us, first + 1250 * us);
  const analysis::Steps steps = test::analyze_window(trace, Kind::automatic).steps;
  // Without the windows every step is one, and the periods are what they are.
  const profile::Trace whole = training(12).build();
  const analysis::Steps all = test::analyze_window(whole, Kind::automatic).steps;
  REQUIRE(all.count == 12);
  CHECK(steps.count == 8);
  CHECK(steps.median_ns == all.median_ns);
  CHECK(steps.p99_ns == all.p99_ns);
  REQUIRE(steps.outliers.size() == 1);
  CHECK(steps.outliers[0].index == 0);
  std::vector<bool> followed;
  for (const analysis::Step& step : steps.steps) followed.push_back(step.is_followed);
  CHECK(followed == std::vector<bool>{true, true, true, false, true, true, true, false});
}

TEST_CASE("two windows that touch are two: what was recorded changed there") {
  profile::Trace trace = training(6).build();
  for (const std::int64_t from : {1000 * us, 1250 * us}) {
    trace.windows.start_ns.push_back(from);
    trace.windows.end_ns.push_back(from == 1000 * us ? 1250 * us : 1650 * us);
    trace.windows.process.push_back(0);
    trace.windows.reason.push_back(trace.intern("budget"));
  }
  const analysis::Report report = test::analyze_window(trace, Kind::all);
  CHECK(report.window.recorded_windows == 2);
  CHECK(report.window.from_ns == 1250 * us);
  CHECK(report.window.to_ns == 1650 * us);
}

TEST_CASE("windows of one step each: the figures are over their lengths") {
  profile::Trace trace = training(6).build();
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, std::size_t{5}}) {
    trace.windows.start_ns.push_back(trace.ranges.start_ns[step]);
    trace.windows.end_ns.push_back(trace.ranges.end_ns[step]);
    trace.windows.process.push_back(0);
    trace.windows.reason.push_back(trace.intern("range step"));
  }
  const analysis::Steps steps = test::analyze_window(trace, Kind::automatic).steps;
  CHECK(steps.count == 3);
  CHECK(steps.median_ns == trace.ranges.end_ns[1] - trace.ranges.start_ns[1]);
  CHECK(steps.outliers.empty());
}
