// What was given up for the overhead budget, from planted capture events.
#include <catch2/catch.hpp>
#include <string>

#include "libanalysis/quality/given_up.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/libanalysis/trace_builder.hpp"

using namespace gprofml;

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// A recording that begins at 10 s.
profile::Trace recording() {
  test::TraceBuilder t;
  t.call("cudaLaunchKernel", 1, 10 * kSecond, 10 * kSecond + 10, 1);
  t.kernel("k", 0, 7, 10 * kSecond + 20, 10 * kSecond + 30, 1);
  return t.build();
}

void happens(profile::Trace& trace, const char* kind, std::int64_t second,
             profile::RowIndex process = 0) {
  trace.capture_events.time_ns.push_back(second * kSecond);
  trace.capture_events.process.push_back(process);
  trace.capture_events.kind.push_back(trace.intern(kind));
  trace.capture_events.detail.push_back(0);
  trace.capture_events.value.push_back(30'000);
}

void window(profile::Trace& trace, std::int64_t from, std::int64_t to) {
  trace.windows.start_ns.push_back(from * kSecond);
  trace.windows.end_ns.push_back(to * kSecond);
  trace.windows.process.push_back(0);
  trace.windows.reason.push_back(trace.intern("budget"));
}

using analysis::given_up;

}  // namespace

TEST_CASE("nothing was given up") {
  profile::Trace trace = recording();
  CHECK(given_up(trace).empty());
  happens(trace, "clock_set", 11);
  CHECK(given_up(trace).empty());
  CHECK(given_up(profile::Trace{}).empty());
}

TEST_CASE("one after the other, with the times since the beginning") {
  profile::Trace trace = recording();
  happens(trace, "stacks_given_up", 11);
  CHECK(given_up(trace) == "call stacks given up after 1.0 s");
  happens(trace, "memory_events_given_up", 12);
  happens(trace, "budget_window_closed", 13);
  window(trace, 10, 13);
  CHECK(given_up(trace) ==
        "call stacks given up after 1.0 s, memory events after 2.0 s; from 3.0 s on nothing "
        "recorded");
  happens(trace, "budget_window_opened", 15);
  happens(trace, "budget_window_closed", 16);
  window(trace, 15, 16);
  window(trace, 18, 19);
  happens(trace, "budget_not_held", 20);
  CHECK(given_up(trace) ==
        "call stacks given up after 1.0 s, memory events after 2.0 s; from 3.0 s on 2 windows "
        "recorded; the budget was not held");
  // The report says so too.
  const analysis::Quality quality = test::analyze_all(trace).quality;
  REQUIRE(quality.warnings.size() == 1);
  CHECK(quality.warnings[0].code == "given_up");
  CHECK(quality.warnings[0].message.find("memory events") != std::string::npos);
}

TEST_CASE("of several processes the first, and how many") {
  profile::Trace trace = recording();
  trace.processes.push_back({});
  happens(trace, "memory_events_given_up", 14, 1);
  CHECK(given_up(trace) == "memory events given up after 4.0 s (1 of 2 processes)");
  happens(trace, "memory_events_given_up", 12, 0);
  CHECK(given_up(trace) == "memory events given up after 2.0 s (2 of 2 processes)");
}
