// A clock that is set while a program is recorded: the same run with and without.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <vector>

#include "libprofile/trace/clock_steps.hpp"
#include "test/libprofile/trace/trace_builder.hpp"

using namespace gprofml;
using namespace gprofml::profile;

namespace {

constexpr Nanoseconds kMs = 1'000'000;
constexpr Nanoseconds kEpoch = 1'764'000'000'000'000'000;

/// A clock that is set at given true times.
struct Clock {
  std::vector<std::pair<Nanoseconds, Nanoseconds>> set;  // when, by how much

  Nanoseconds shows(Nanoseconds true_ns) const {
    Nanoseconds time = kEpoch + true_ns;
    for (const auto& [when, by] : set) time += true_ns >= when ? by : 0;
    return time;
  }
};

/// A range every 3 ms, a look at the clocks every 100 ms.
Trace recorded_with(const Clock& clock, std::size_t looks = 20, bool cupti = true) {
  Trace trace;
  trace.processes.push_back({7, kUnknown, trace.intern("node"), 0, 0});
  trace.threads.push_back({0, 7, 7, 0});
  for (std::size_t i = 0; i < looks; ++i) {
    const Nanoseconds now = static_cast<Nanoseconds>(i) * 100 * kMs;
    trace.clock_pairs.process.push_back(0);
    trace.clock_pairs.realtime_ns.push_back(clock.shows(now));
    trace.clock_pairs.monotonic_ns.push_back(5000 + now);
    trace.clock_pairs.cupti_ns.push_back(cupti ? clock.shows(now) : kUnknown);
    trace.clock_pairs.uncertainty_ns.push_back(100);
  }
  RangeColumns& ranges = trace.ranges;
  for (Nanoseconds at = 1 * kMs; at < static_cast<Nanoseconds>(looks - 1) * 100 * kMs;
       at += 3 * kMs) {
    ranges.start_ns.push_back(clock.shows(at));
    ranges.end_ns.push_back(std::max(clock.shows(at), clock.shows(at + 2 * kMs)));
    ranges.name.push_back(trace.intern("r"));
    ranges.thread.push_back(0);
    ranges.kind.push_back(RangeKind::push_pop);
    ranges.domain.push_back(0);
    ranges.external_id.push_back(kUnknown);
    ranges.category.push_back(0);
    ranges.color.push_back(kUnknown);
  }
  canonicalise(trace);
  return trace;
}

}  // namespace

TEST_CASE("steps forwards are taken out: the same times as with a clock that nobody set") {
  const Trace truth = recorded_with({});
  for (const bool cupti : {true, false}) {
    Trace once = recorded_with({{{750 * kMs + 1, 400 * kMs}}}, 20, cupti);
    REQUIRE(once.ranges.start_ns != truth.ranges.start_ns);
    CHECK(correct_clock_steps(once) == 1);
    CHECK(once.ranges.start_ns == truth.ranges.start_ns);
    CHECK(once.ranges.end_ns == truth.ranges.end_ns);
    REQUIRE(once.quality.size() == 1);
    CHECK(once.text(once.quality[0].code) == "clock_corrected");
    CHECK_FALSE(first_inconsistency(once));
  }
  Trace twice = recorded_with({{{333 * kMs, 3'600'000 * kMs / 2}, {1500 * kMs, 180 * kMs}}});
  CHECK(correct_clock_steps(twice) == 2);
  CHECK(twice.ranges.start_ns == truth.ranges.start_ns);
}

TEST_CASE("what is not clear stays as it is") {
  for (const Nanoseconds step : {-400 * kMs, 50 * kMs}) {  // backwards; shorter than between looks
    const Trace before = recorded_with({{{750 * kMs, step}}});
    Trace trace = before;
    REQUIRE(clock_steps(trace).size() == 1);
    CHECK(clock_steps(trace)[0].step_ns == step);
    CHECK(correct_clock_steps(trace) == 0);
    CHECK(trace.ranges.start_ns == before.ranges.start_ns);
    CHECK(trace.quality.empty());
  }
  CHECK(clock_steps(recorded_with({{{750 * kMs, kMs / 2}}})).empty());  // slewed
  CHECK(clock_steps(recorded_with({})).empty());
  Trace two_hosts = recorded_with({{{750 * kMs, 400 * kMs}}});
  two_hosts.processes.push_back({8, kUnknown, two_hosts.intern("other"), 0, 0});
  CHECK(correct_clock_steps(two_hosts) == 0);
}

TEST_CASE("clocks that say anything do no harm") {
  Trace trace = recorded_with({});
  trace.clock_pairs.realtime_ns[3] = std::numeric_limits<Nanoseconds>::max();
  trace.clock_pairs.cupti_ns[5] = 12;  // a simulated clock
  trace.clock_pairs.monotonic_ns[7] = kUnknown;
  const auto ranges = trace.ranges.start_ns;
  CHECK(correct_clock_steps(trace) == 0);
  CHECK(trace.ranges.start_ns == ranges);
}
