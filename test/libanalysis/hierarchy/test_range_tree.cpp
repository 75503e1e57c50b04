// Nesting of ranges, and what it makes of ops. Times in nanoseconds.
#include <catch2/catch.hpp>
#include <map>

#include "libanalysis/hierarchy/range_tree.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"
#include "test/seeds.hpp"
#include "test/synth/random.hpp"

using namespace gprofml;
using analysis::RangeTree;
using profile::RangeKind;
using profile::RowIndex;

namespace {

RowIndex row_of(const profile::Trace& trace, std::string_view name) {
  for (RowIndex r = 0; r < trace.ranges.size(); ++r) {
    if (trace.text(trace.ranges.name[r]) == name) return r;
  }
  return profile::kNoRow;
}

std::string parent_name(const profile::Trace& trace, const RangeTree& tree, std::string_view name) {
  const RowIndex parent = tree.parent(row_of(trace, name));
  return parent == profile::kNoRow ? "" : std::string(trace.text(trace.ranges.name[parent]));
}

std::string innermost_name(const profile::Trace& trace, const RangeTree& tree, std::int64_t t) {
  const RowIndex range = tree.innermost(0, t);
  return range == profile::kNoRow ? "" : std::string(trace.text(trace.ranges.name[range]));
}

}  // namespace

TEST_CASE("nested, touching, equal and overrunning ranges") {
  test::TraceBuilder t;
  t.op("outer", 1, 0, 100);
  t.op("first", 1, 0, 40);    // starts with its parent
  t.op("second", 1, 40, 60);  // touches its sibling
  t.op("late", 1, 90, 101);   // outlives its parent by 1 ns
  t.op("after", 1, 101, 110);
  const profile::Trace trace = t.build();
  const RangeTree tree(trace);
  CHECK(parent_name(trace, tree, "first") == "outer");
  CHECK(parent_name(trace, tree, "second") == "outer");
  CHECK(parent_name(trace, tree, "late") == "outer");
  CHECK(parent_name(trace, tree, "after").empty());
  CHECK(tree.path(row_of(trace, "late")) == "outer/late");
  CHECK(innermost_name(trace, tree, 0) == "first");
  CHECK(innermost_name(trace, tree, 40) == "second");
  CHECK(innermost_name(trace, tree, 60) == "outer");
  CHECK(innermost_name(trace, tree, 100) == "late");
  CHECK(innermost_name(trace, tree, 101) == "after");
  CHECK(innermost_name(trace, tree, 110).empty());
}

TEST_CASE("step marks, Python frames and ranges that cross threads take no part") {
  test::TraceBuilder t;
  t.range(RangeKind::annotation, "ProfilerStep#3", 1, 0, 100);
  t.range(RangeKind::python_function, "main.py(1): <module>", 1, 0, 100);
  t.range(RangeKind::start_end, "request 7", 1, 5, 50);
  t.range(RangeKind::annotation, "forward", 1, 10, 60);
  t.op("aten::mm", 1, 20, 30);
  const profile::Trace trace = t.build();
  const RangeTree tree(trace);
  CHECK(tree.path(row_of(trace, "aten::mm")) == "forward/aten::mm");
  CHECK_FALSE(tree.contains(row_of(trace, "ProfilerStep#3")));
  CHECK_FALSE(tree.contains(row_of(trace, "main.py(1): <module>")));
  CHECK_FALSE(tree.contains(row_of(trace, "request 7")));
}

TEST_CASE("start/end ranges are ops where they nest") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "step", 1, 0, 100);
  t.range(RangeKind::start_end, "layer", 1, 10, 50);
  t.range(RangeKind::push_pop, "attention", 1, 10, 50);  // equal: does not cross
  t.range(RangeKind::start_end, "mark", 1, 20, 20);
  t.range(RangeKind::start_end, "touches", 1, 50, 60);
  t.range(RangeKind::start_end, "request 1", 1, 70, 80);
  t.range(RangeKind::start_end, "request 2", 1, 75, 85);   // crosses request 1
  t.range(RangeKind::start_end, "outlives", 1, 90, 101);   // crosses step
  t.range(RangeKind::start_end, "elsewhere", 2, 90, 101);  // another thread
  const profile::Trace trace = t.build();
  const RangeTree tree(trace);
  CHECK(tree.path(row_of(trace, "attention")).find("step/") == 0);
  CHECK(tree.contains(row_of(trace, "layer")));
  CHECK(tree.path(row_of(trace, "touches")) == "step/touches");
  CHECK(tree.path(row_of(trace, "elsewhere")) == "elsewhere");
  for (const char* out : {"mark", "request 1", "request 2", "outlives"}) {
    INFO(out);
    CHECK_FALSE(tree.contains(row_of(trace, out)));
  }
}

TEST_CASE("which start/end ranges cross, by brute force") {
  const int seeds = test::seed_count(300);
  for (int seed = 1; seed <= seeds; ++seed) {
    synth::Random random(static_cast<std::uint64_t>(seed));
    test::TraceBuilder t;
    const std::int64_t many = random.between(1, 12);
    for (std::int64_t i = 0; i < many; ++i) {
      const std::int64_t start = random.between(0, 20);
      t.range(random.chance(50) ? RangeKind::start_end : RangeKind::push_pop,
              "r" + std::to_string(i), 1, start, random.between(start, 24));
    }
    const profile::Trace trace = t.build();
    const RangeTree tree(trace);
    const profile::RangeColumns& r = trace.ranges;
    for (RowIndex a = 0; a < r.size(); ++a) {
      bool expected = true;
      if (r.kind[a] == RangeKind::start_end) {
        if (r.start_ns[a] == r.end_ns[a]) expected = false;
        for (RowIndex b = 0; b < r.size(); ++b) {
          if (r.kind[b] == RangeKind::start_end && r.start_ns[b] == r.end_ns[b]) continue;
          const auto cross = [&](RowIndex x, RowIndex y) {
            return r.start_ns[x] < r.start_ns[y] && r.start_ns[y] < r.end_ns[x] &&
                   r.end_ns[x] < r.end_ns[y];
          };
          if (cross(a, b) || cross(b, a)) expected = false;
        }
      }
      INFO("seed " << seed << " range " << a);
      REQUIRE(tree.contains(a) == expected);
    }
  }
}

TEST_CASE("a slash in a name does not make a level") {
  test::TraceBuilder t;
  t.op("a/b", 1, 0, 100);
  t.op("c", 1, 10, 20);
  const profile::Trace trace = t.build();
  CHECK(RangeTree(trace).path(row_of(trace, "c")) == "a\u2215b/c");
}

TEST_CASE("deeper than any program: the rest belongs to the level above") {
  test::TraceBuilder t;
  const auto depth = static_cast<std::int64_t>(RangeTree::kDeepest) + 50;
  for (std::int64_t d = 0; d < depth; ++d) t.op("op" + std::to_string(d), 1, d, 1000 - d);
  const profile::Trace trace = t.build();
  const RangeTree tree(trace);
  CHECK(tree.path_count() == RangeTree::kDeepest);
  CHECK(innermost_name(trace, tree, 500) == "op" + std::to_string(RangeTree::kDeepest - 1));
}

TEST_CASE("the innermost range by brute force, on random properly nested ranges") {
  const int seeds = test::seed_count(200);
  for (int seed = 1; seed <= seeds; ++seed) {
    synth::Random random(static_cast<std::uint64_t>(seed));
    test::TraceBuilder t;
    int made = 0;
    const auto fill = [&](auto&& self, std::int64_t from, std::int64_t to, int depth) -> void {
      while (to - from > 4 && made < 60) {
        const std::int64_t start = random.between(from, from + (to - from) / 2);
        const std::int64_t end = random.between(start + 1, to);
        t.op("op" + std::to_string(made++), 1, start, end);
        if (depth < 6 && random.chance(60)) self(self, start, end, depth + 1);
        from = end;
      }
    };
    fill(fill, 0, 400, 0);
    const profile::Trace trace = t.build();
    const RangeTree tree(trace);
    for (std::int64_t at = 0; at < 400; ++at) {
      // the shortest that covers the instant, of equal ones the one listed last
      RowIndex expected = profile::kNoRow;
      for (RowIndex r = 0; r < trace.ranges.size(); ++r) {
        const std::int64_t start = trace.ranges.start_ns[r], end = trace.ranges.end_ns[r];
        if (start > at || end <= at) continue;
        if (expected == profile::kNoRow ||
            end - start <= trace.ranges.end_ns[expected] - trace.ranges.start_ns[expected]) {
          expected = r;
        }
      }
      INFO("seed " << seed << " at " << at);
      REQUIRE(tree.innermost(0, at) == expected);
    }
  }
}

TEST_CASE("ops own what they launched, their parents too") {
  test::TraceBuilder t;
  t.op("aten::linear", 1, 0, 50);
  t.op("aten::addmm", 1, 10, 40);
  t.call("cudaLaunchKernel", 1, 15, 20, 1);
  t.kernel("gemm", 0, 7, 100, 170, 1);
  t.op("aten::linear", 1, 60, 90);
  t.op("aten::addmm", 1, 61, 89);
  t.call("cudaLaunchKernel", 1, 65, 70, 2);
  t.kernel("gemm", 0, 7, 180, 200, 2);
  t.call("cudaLaunchKernel", 1, 95, 97, 3);  // outside any op
  t.kernel("gemm", 0, 7, 200, 201, 3);
  const analysis::Report report = test::analyze_all(t.build());
  REQUIRE(report.ops.size() == 2);
  CHECK(report.ops[0].path == "aten::linear");
  CHECK(report.ops[0].count == 2);
  CHECK(report.ops[0].host_ns == 80);
  CHECK(report.ops[0].device_ns == 90);
  CHECK(report.ops[0].kernels == 2);
  CHECK(report.ops[1].path == "aten::linear/aten::addmm");
  CHECK(report.ops[1].host_ns == 58);
  CHECK(report.ops[1].device_ns == 90);
}
