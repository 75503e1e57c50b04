// What a recording in windows keeps: planted traces, and small random ones against the definition.
#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "libprofile/capture/prune_to_windows.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;
using profile::kNoRow;
using profile::Nanoseconds;
using profile::RangeKind;
using profile::RowIndex;
using profile::Trace;
using profile::WindowInterval;

namespace {

template <typename Table>
std::vector<std::string> names_of(const Trace& trace, const Table& table) {
  std::vector<std::string> names;
  for (const profile::StringId name : table.name) names.emplace_back(trace.text(name));
  return names;
}

using Names = std::vector<std::string>;

profile::Pruned prune(Trace& trace, const std::vector<WindowInterval>& windows) {
  const profile::Pruned pruned = profile::prune_to_windows(trace, windows);
  const auto broken = profile::first_inconsistency(trace);
  INFO((broken ? *broken : std::string()));
  CHECK_FALSE(broken.has_value());
  return pruned;
}

}  // namespace

TEST_CASE("work is kept with the call that launched it, whenever it runs") {
  test::TraceBuilder t;
  t.call("before", 1, 100, 190, 1);
  t.call("first", 1, 200, 210, 2);
  t.call("ends with it", 1, 290, 300, 3);
  t.call("straddles", 1, 295, 301, 4);
  t.call("waits across", 1, 296, 400);  // launched nothing: it meets the window
  t.call("after", 1, 300, 310, 5);
  t.kernel("of before", 0, 7, 210, 220, 1);
  t.kernel("of first", 0, 7, 900, 950, 2);
  t.kernel("of ends with it", 0, 7, 960, 970, 3);
  t.kernel("of straddles", 0, 7, 980, 990, 4);
  t.kernel("of after", 0, 7, 991, 992, 5);
  t.kernel("of nobody, inside", 0, 8, 250, 260);
  t.kernel("of nobody, outside", 0, 8, 400, 410);
  t.kernel("of nobody, timeless", 0, 8, 0, 0);
  Trace trace = t.build();
  const profile::Pruned pruned = prune(trace, {{200, 300}});
  CHECK(names_of(trace, trace.api_calls) == Names{"first", "ends with it", "waits across"});
  Names kernels = names_of(trace, trace.kernels);
  std::sort(kernels.begin(), kernels.end());
  CHECK(kernels ==
        Names{"of ends with it", "of first", "of nobody, inside", "of nobody, timeless"});
  CHECK(pruned.work == 4);
  for (RowIndex row = 0; row < trace.kernels.size(); ++row) {
    if (trace.kernels.launch[row] == kNoRow) continue;
    CHECK("of " + std::string(trace.text(trace.api_calls.name[trace.kernels.launch[row]])) ==
          trace.text(trace.kernels.name[row]));
  }
}

TEST_CASE(
    "the last part: what runs in it, the calls that launched that, and what is around those") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "around the early call", 1, 90, 120);
  t.range(RangeKind::push_pop, "over", 1, 10, 80);
  t.range(RangeKind::push_pop, "encloses", 1, 5, 900);
  t.range(RangeKind::push_pop, "in it", 1, 700, 800);
  t.call("early", 1, 100, 110, 1);
  t.call("of what has ended", 1, 20, 30, 2);
  t.call("ends as it begins", 1, 400, 500);
  t.call("in it", 1, 600, 610, 3);
  t.kernel("runs into it", 0, 7, 120, 501, 1);
  t.kernel("ends as it begins", 0, 8, 120, 500, 2);
  t.kernel("last", 0, 7, 700, 1000, 3);
  Trace trace = t.build();
  profile::prune_to_last(trace, {500, 1000});
  CHECK_FALSE(profile::first_inconsistency(trace).has_value());
  CHECK(names_of(trace, trace.kernels) == Names{"runs into it", "last"});
  CHECK(names_of(trace, trace.api_calls) == Names{"early", "in it"});
  CHECK(names_of(trace, trace.ranges) == Names{"encloses", "around the early call", "in it"});
  CHECK(trace.kernels.launch == std::vector<RowIndex>{0, 1});
}

TEST_CASE("ranges that meet a window keep their true times, and their payloads") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "around", 1, 100, 900);
  t.range(RangeKind::push_pop, "ends as it begins", 1, 150, 200);
  t.range(RangeKind::push_pop, "inside", 1, 200, 250);
  t.range(RangeKind::push_pop, "begins as it ends", 1, 300, 350);
  t.range(RangeKind::start_end, "mark as it begins", 1, 200, 200);
  t.range(RangeKind::start_end, "mark as it ends", 1, 300, 300);
  Trace trace = t.build();
  for (const RowIndex row : {0u, 1u, 2u}) {
    trace.range_payloads.range.push_back(row);
    trace.range_payloads.key.push_back(trace.intern("of"));
    trace.range_payloads.value.push_back(trace.ranges.name[row]);
  }
  prune(trace, {{200, 300}, {500, 600}});
  CHECK(names_of(trace, trace.ranges) == Names{"around", "inside", "mark as it begins"});
  CHECK(trace.ranges.start_ns[0] == 100);
  CHECK(trace.ranges.end_ns[0] == 900);
  REQUIRE(trace.range_payloads.size() == 2);
  for (std::size_t row = 0; row < 2; ++row) {
    CHECK(trace.text(trace.ranges.name[trace.range_payloads.range[row]]) ==
          trace.text(trace.range_payloads.value[row]));
  }
}

TEST_CASE("what nodes were captured in stays, with all that encloses it on its thread") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "epoch", 1, 10, 190);
  t.range(RangeKind::push_pop, "capture", 1, 20, 60);
  t.range(RangeKind::push_pop, "layer", 1, 30, 40);
  t.range(RangeKind::push_pop, "beside", 1, 70, 80);
  t.range(RangeKind::push_pop, "elsewhere", 2, 10, 190);
  t.call("captured", 1, 32, 33);
  t.call("launch", 1, 210, 220, 1);
  t.replayed("k", 5, 6, 7, 230, 240, 1);
  t.captured(5, 6, "layer", 0);
  Trace trace = t.build();
  prune(trace, {{200, 300}});
  CHECK(names_of(trace, trace.ranges) == Names{"epoch", "capture", "layer"});
  REQUIRE(trace.graph_nodes.size() == 1);
  CHECK(trace.graph_nodes[0].op == 2);
  CHECK(trace.graph_nodes[0].call == kNoRow);  // it was not in the window
  CHECK(trace.kernels.size() == 1);
}

TEST_CASE("counter samples, marks and collectives by their time and by what they belong to") {
  test::TraceBuilder t;
  t.range(RangeKind::push_pop, "in", 1, 210, 250);
  Trace trace = t.build();
  profile::CounterMetric metric;
  metric.name = trace.intern("loss");
  trace.counter_metrics.push_back(metric);
  for (const Nanoseconds time : {199, 200, 299, 300}) {
    trace.counter_samples.time_ns.push_back(time);
    trace.counter_samples.metric.push_back(0);
    trace.counter_samples.device.push_back(kNoRow);
    trace.counter_samples.process.push_back(0);
    trace.counter_samples.value.push_back(static_cast<double>(time));
  }
  prune(trace, {{200, 300}});
  CHECK(trace.counter_samples.time_ns == std::vector<Nanoseconds>{200, 299});
}

TEST_CASE("no window: nothing of what happened at a time") {
  test::TraceBuilder t;
  t.call("launch", 1, 210, 220, 1);
  t.kernel("k", 0, 7, 230, 240, 1);
  t.range(RangeKind::push_pop, "r", 1, 200, 300);
  Trace trace = t.build();
  CHECK(prune(trace, {}).work == 1);
  CHECK(trace.api_calls.size() + trace.kernels.size() + trace.ranges.size() == 0);
}

// --- random ones against the definition, moment by moment ----------------------------------------

namespace {

constexpr Nanoseconds kMoments = 40;

bool meets(const std::vector<WindowInterval>& windows, Nanoseconds start, Nanoseconds end) {
  for (const WindowInterval& window : windows) {
    for (Nanoseconds moment = start; moment < std::max(end, start + 1); ++moment) {
      if (window.start_ns <= moment && moment < window.end_ns) return true;
    }
  }
  return false;
}

bool ends_in_one(const std::vector<WindowInterval>& windows, Nanoseconds end) {
  return std::any_of(windows.begin(), windows.end(), [&](const WindowInterval& window) {
    return window.start_ns < end && end <= window.end_ns;
  });
}

std::vector<WindowInterval> random_windows(std::mt19937_64& random) {
  std::set<Nanoseconds> borders;
  const std::size_t wanted = 2 * (random() % 4);
  while (borders.size() < wanted) borders.insert(static_cast<Nanoseconds>(random() % kMoments));
  std::vector<WindowInterval> windows;
  for (auto at = borders.begin(); at != borders.end(); ++at) {
    const Nanoseconds start = *at++;
    windows.push_back({start, *at});
  }
  return windows;
}

Trace random_trace(std::mt19937_64& random) {
  test::TraceBuilder t;
  const auto interval = [&] {
    const auto start = static_cast<Nanoseconds>(1 + random() % kMoments);
    return std::pair(start, start + static_cast<Nanoseconds>(random() % 12));
  };
  for (int i = 0; i < 12; ++i) {
    const auto [start, end] = interval();
    t.call("c" + std::to_string(i), static_cast<std::int64_t>(1 + random() % 2), start, end, i);
    const auto [from, to] = interval();
    // Some of a call, some of one that was never recorded.
    if (random() % 2 == 0) {
      t.kernel("k" + std::to_string(i), 0, 7, from, to, random() % 4 == 0 ? 100 + i : i);
    }
  }
  for (int i = 0; i < 14; ++i) {
    const auto [start, end] = interval();
    t.range(RangeKind::start_end, "r" + std::to_string(i),
            static_cast<std::int64_t>(1 + random() % 2), start, end);
  }
  for (int node = 0; node < static_cast<int>(random() % 4); ++node) {
    t.captured(1, node, "r" + std::to_string(random() % 14), static_cast<RowIndex>(random() % 12));
  }
  return t.build();
}

Names sorted(Names names) {
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

TEST_CASE("random traces: exactly what the definition keeps") {
  std::mt19937_64 random(11);
  for (int round = 0; round < 400; ++round) {
    INFO("round " << round);
    const Trace before = random_trace(random);
    const std::vector<WindowInterval> windows = random_windows(random);
    const profile::ApiCallColumns& calls = before.api_calls;
    std::set<RowIndex> launches;
    for (const RowIndex call : before.kernels.launch) {
      if (call != kNoRow) launches.insert(call);
    }
    std::set<RowIndex> kept_calls;
    Names wanted_calls;
    for (RowIndex row = 0; row < calls.size(); ++row) {
      if (!meets(windows, calls.start_ns[row], calls.end_ns[row])) continue;
      if (launches.count(row) > 0 && !ends_in_one(windows, calls.end_ns[row])) continue;
      kept_calls.insert(row);
      wanted_calls.emplace_back(before.text(calls.name[row]));
    }
    Names wanted_kernels;
    for (RowIndex row = 0; row < before.kernels.size(); ++row) {
      const RowIndex launch = before.kernels.launch[row];
      const bool kept = launch == kNoRow ? meets(windows, before.kernels.start_ns[row],
                                                 before.kernels.end_ns[row])
                                         : kept_calls.count(launch) > 0;
      if (kept) wanted_kernels.emplace_back(before.text(before.kernels.name[row]));
    }
    Names wanted_ranges;
    const profile::RangeColumns& ranges = before.ranges;
    for (RowIndex row = 0; row < ranges.size(); ++row) {
      bool kept = meets(windows, ranges.start_ns[row], ranges.end_ns[row]);
      for (const profile::GraphNode& node : before.graph_nodes) {
        kept = kept || (node.op != kNoRow && ranges.thread[node.op] == ranges.thread[row] &&
                        ranges.start_ns[row] <= ranges.start_ns[node.op] &&
                        ranges.end_ns[row] >= ranges.end_ns[node.op]);
      }
      if (kept) wanted_ranges.emplace_back(before.text(ranges.name[row]));
    }
    Trace trace = before;
    prune(trace, windows);
    REQUIRE(sorted(names_of(trace, trace.api_calls)) == sorted(wanted_calls));
    REQUIRE(sorted(names_of(trace, trace.kernels)) == sorted(wanted_kernels));
    REQUIRE(sorted(names_of(trace, trace.ranges)) == sorted(wanted_ranges));
    // References still mean the same rows.
    for (std::size_t node = 0; node < trace.graph_nodes.size(); ++node) {
      REQUIRE(trace.graph_nodes[node].op != kNoRow);
      REQUIRE(trace.text(trace.ranges.name[trace.graph_nodes[node].op]) ==
              before.text(ranges.name[before.graph_nodes[node].op]));
    }
  }
}

TEST_CASE("half a million ranges in which nodes were captured") {
  // Deeply nested in chains of 50: pairs would be 10^11.
  constexpr RowIndex kChains = 10'000;
  constexpr RowIndex kDeep = 50;
  Trace trace;
  trace.processes.push_back({});
  trace.threads.push_back({});
  trace.threads[0].process = 0;
  profile::RangeColumns& ranges = trace.ranges;
  const profile::StringId name = trace.intern("r");
  for (RowIndex chain = 0; chain < kChains; ++chain) {
    for (RowIndex depth = 0; depth < kDeep; ++depth) {
      ranges.start_ns.push_back(1 + chain * 1000 + depth);
      ranges.end_ns.push_back(1 + chain * 1000 + 999 - depth);
      ranges.name.push_back(name);
      ranges.thread.push_back(0);
      ranges.kind.push_back(RangeKind::push_pop);
      ranges.domain.push_back(0);
      ranges.external_id.push_back(profile::kUnknown);
      ranges.category.push_back(0);
      ranges.color.push_back(profile::kUnknown);
    }
    profile::GraphNode node;
    node.process = 0;
    node.graph_id = 1;
    node.node_id = chain;
    // In every second chain, in its 30th range: the 20 inside it go.
    node.op = chain % 2 == 0 ? chain * kDeep + 29 : kNoRow;
    trace.graph_nodes.push_back(node);
  }
  profile::prune_to_windows(trace, {});
  CHECK(trace.ranges.size() == kChains / 2 * 30);
}
