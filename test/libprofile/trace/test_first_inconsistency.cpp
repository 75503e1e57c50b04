#include <catch2/catch.hpp>
#include <functional>

#include "test/libprofile/trace/trace_builder.hpp"

using namespace gprofml::profile;
using gprofml::test::TraceBuilder;

TEST_CASE("each broken invariant is found and its table and row named") {
  struct Breakage {
    const char* finding;
    std::function<void(Trace&)> apply;
  };
  const Breakage breakage =
      GENERATE(Breakage{"kernels: column name has 1 rows, the table 2",
                        [](Trace& t) { t.kernels.name.pop_back(); }},
               Breakage{"kernels row 1: stream refers to row 9 of 1",
                        [](Trace& t) { t.kernels.stream[1] = 9; }},
               Breakage{"kernels row 0: stream refers to row 4294967295 of 1",
                        [](Trace& t) { t.kernels.stream[0] = kNoRow; }},
               Breakage{"kernels row 0: launch refers to row 1 of 1",
                        [](Trace& t) { t.kernels.launch[0] = 1; }},
               Breakage{"api_calls row 0: ends at 1 before it starts at 5",
                        [](Trace& t) { t.api_calls.end_ns[0] = 1; }},
               Breakage{"ranges row 0: name refers to row 999 of 4",
                        [](Trace& t) { t.ranges.name[0] = 999; }},
               Breakage{"streams row 0: context refers to row 4294967295 of 1",
                        [](Trace& t) { t.streams[0].context = kNoRow; }},
               Breakage{"threads row 0: process refers to row 7 of 1",
                        [](Trace& t) { t.threads[0].process = 7; }},
               Breakage{"quality row 0: a string refers to row 50 of 4", [](Trace& t) {
                          t.quality.push_back({0, 50, 1, 0});
                        }});
  TraceBuilder b;
  const RowIndex thread = b.thread(1), stream = b.stream(7);
  b.call("call", thread, 5, 6, 1);
  b.range("op", thread, 5, 6);
  b.kernel("kernel", stream, 7, 8);
  b.kernel("kernel", stream, 7, 7);
  REQUIRE(first_inconsistency(b.trace) == std::nullopt);
  breakage.apply(b.trace);
  CHECK(first_inconsistency(b.trace) == std::optional<std::string>(breakage.finding));
}
