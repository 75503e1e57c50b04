#include <catch2/catch.hpp>

#include "libanalysis/follow/plan.hpp"

namespace gprofml::test {
namespace {

using namespace analysis;  // NOLINT: a test of these names alone
using Meta = std::map<std::string, std::string>;

constexpr char kLevel1[] = "kernels,copies,fills,graph-nodes,launches,syncs,events,ranges,overhead";

/// A GPU-bound run of 40 steps with nothing left open.
Report answered() {
  Report report;
  report.steps.count = 40;
  report.steps.source = "ranges:decode";
  report.verdict.bound = Bound::gpu;
  report.critical_path.exists = true;
  report.critical_path.window_ns = 1000;
  report.ops = {{"serve/decode", OpSource::range, 40, 900, 800, 80}};
  return report;
}

FollowPlan plan_of(const Report& report, const std::string& kinds = kLevel1, Meta meta = {}) {
  meta["recorded_kinds"] = kinds;
  return follow_plan(report, meta);
}

TEST_CASE("with nothing left open it is level 1 around the slowest step") {
  Report report = answered();
  report.steps.outliers = {{7, 200, "decode"}, {21, 500, "decode"}};
  const FollowPlan plan = plan_of(report);
  CHECK(plan.level == 1);
  CHECK(plan.more_kinds.empty());
  CHECK(plan.range == "decode");
  CHECK(plan.occurrences == 5);
  CHECK(plan.skipped == 19);
  REQUIRE(plan.reasons.size() == 2);
  CHECK(plan.reasons[1].why == "step 21 was the slowest, 500 ns");
}

TEST_CASE("the slowest step at either end is inside of the window") {
  Report report = answered();
  report.steps.outliers = {{0, 500, "decode"}};
  CHECK(plan_of(report).skipped == 0);
  report.steps.outliers = {{39, 500, "decode"}};
  CHECK(plan_of(report).skipped == 35);
}

TEST_CASE("work that was not recorded is recorded, graphs node by node") {
  Report report = answered();
  report.quality.work_left_out = "kernels, copies and fills";
  report.verdict.bound = Bound::unknown;
  FollowPlan plan = plan_of(report, "ranges,overhead");
  CHECK(plan.level == 1);
  CHECK(plan.more_kinds.empty());  // why the GPU waits can be asked once its work is there
  CHECK(plan.skipped == 10);
  CHECK(plan.reasons[0].why == "kernels, copies and fills were not recorded");
  report.quality.work_left_out.clear();
  report.quality.whole_graphs = 1200;
  report.verdict.bound = Bound::gpu;
  plan = plan_of(report);
  CHECK(plan.level == 1);
  CHECK(plan.reasons[0].what == "CUDA graphs node by node");
}

TEST_CASE("host code without a name gets call stacks, once") {
  Report report = answered();
  report.verdict.bound = Bound::host;
  auto& host_code = report.critical_path.by_class[static_cast<std::size_t>(TimeClass::host_code)];
  host_code = 99;
  CHECK(plan_of(report).level == 1);  // less than a tenth
  host_code = 100;
  CHECK(plan_of(report).level == 3);
  CHECK(plan_of(report, std::string(kLevel1) + ",stacks").level == 1);
  report.verdict.bound = Bound::gpu;
  CHECK(plan_of(report).level == 1);
  report.verdict.bound = Bound::host;
  host_code = 0;
  report.ops[0].source = OpSource::kernel_family;
  CHECK(plan_of(report).level == 3);
}

TEST_CASE("allocations on the path get memory events, initialisation does not count") {
  Report report = answered();
  report.path_calls = {{"cudaMalloc, which initialises CUDA", 900}, {"cudaFree", 9}};
  CHECK(plan_of(report).more_kinds.empty());
  report.path_calls[1].path_ns = 10;
  CHECK(plan_of(report).more_kinds == std::vector<std::string>{"memory", "pools"});
  CHECK(plan_of(report, std::string(kLevel1) + ",memory").more_kinds.empty());
}

TEST_CASE("waits that are not seen get all calls, once") {
  Report report = answered();
  report.verdict.bound = Bound::unknown;
  CHECK(plan_of(report).more_kinds == std::vector<std::string>{"calls"});
  CHECK(plan_of(report, std::string(kLevel1) + ",calls").more_kinds.empty());
  report.critical_path.exists = false;
  CHECK(plan_of(report).more_kinds.empty());
}

TEST_CASE("without steps the heaviest range that repeats is the window, else there is none") {
  Report report = answered();
  report.steps = {};
  report.ops = {{"main", OpSource::range, 1, 5000, 0, 0},
                {"main/a∕b", OpSource::range, 3, 400, 600, 9},
                {"main/c", OpSource::range, 9, 500, 100, 9},
                {"gemm", OpSource::kernel_family, 9, 0, 9000, 9}};
  FollowPlan plan = plan_of(report);
  CHECK(plan.range == "a/b");
  CHECK(plan.occurrences == 3);
  CHECK(plan.skipped == 0);
  report.ops.resize(1);
  plan = plan_of(report);
  CHECK(plan.range.empty());
  CHECK(plan.occurrences == 0);
  CHECK(plan.reasons.back().what == "the whole run");
}

TEST_CASE("what followed a run itself is followed in the same place") {
  Report report = answered();
  report.steps.count = 5;
  report.ops[0].count = 5;
  const Meta meta = {{"follow_range", "decode"}, {"follow_skipped", "10"}};
  CHECK(plan_of(report, kLevel1, meta).skipped == 10);
  CHECK(plan_of(report, kLevel1, {{"follow_range", "other"}, {"follow_skipped", "10"}}).skipped ==
        0);
  CHECK(plan_of(report, kLevel1, {{"follow_range", "decode"}, {"follow_skipped", "x"}}).skipped ==
        0);
}

}  // namespace
}  // namespace gprofml::test
