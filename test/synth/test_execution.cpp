// The simulator against programs worked out by hand.
#include <catch2/catch.hpp>

#include "test/synth/small_programs.hpp"

using namespace gprofml::synth;

namespace {

struct Times {
  Nanoseconds start_ns;
  Nanoseconds end_ns;
  bool operator==(const Times&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Times& times) {
  return out << "[" << times.start_ns << ", " << times.end_ns << ")";
}

template <typename Events>
std::vector<Times> times_of(const Events& events) {
  std::vector<Times> times;
  for (const auto& event : events) times.push_back({event.start_ns, event.end_ns});
  return times;
}

const StreamRef kMain{0, 7};
const StreamRef kSide{0, 20};
const StreamRef kOther{1, 7};

}  // namespace

TEST_CASE("a kernel starts launch latency after its call began, a sync returns after its end") {
  const Execution ran = run(round_program(
      {{HostWork{100}, kernel(kMain, 15, 200), synchronise(SyncScope::device, 6, kMain)}}));
  CHECK(times_of(ran.activities) == std::vector<Times>{{130, 330}});
  CHECK(times_of(ran.calls) == std::vector<Times>{{100, 115}, {115, 370}});
  CHECK(times_of(ran.syncs) == std::vector<Times>{{117, 368}});
  CHECK(ran.steps.back().waited == 0);
}

TEST_CASE("a sync that finds everything done lasts its least time") {
  const Execution ran = run(round_program(
      {{kernel(kMain, 15, 20), HostWork{1000}, synchronise(SyncScope::stream, 60, kMain),
        synchronise(SyncScope::stream, 6, kMain)}}));
  CHECK(times_of(ran.calls) == std::vector<Times>{{0, 15}, {1015, 1075}, {1075, 1115}});
  CHECK(ran.steps.back().waited == kNone);
}

TEST_CASE("a queued kernel follows its predecessor on the stream after the gap") {
  const Execution ran = run(round_program({{kernel(kMain, 15, 200), kernel(kMain, 15, 50)}}));
  CHECK(times_of(ran.activities) == std::vector<Times>{{30, 230}, {240, 290}});
  CHECK(ran.activities[1].started_by == StartedBy::stream_order);
  CHECK(ran.activities[1].after == 0);
}

TEST_CASE("streams and devices run side by side") {
  const Execution ran =
      run(round_program({{kernel(kMain, 15, 200), kernel(kSide, 15, 50), kernel(kOther, 15, 10)}}));
  CHECK(times_of(ran.activities) == std::vector<Times>{{30, 230}, {45, 95}, {60, 70}});
}

TEST_CASE("a stream waits for the record made before the wait, not for later ones or later work") {
  const Execution ran = run(round_program(
      {{kernel(kMain, 10, 200), RecordEvent{5, kMain, 1}, kernel(kMain, 10, 500),
        StreamWaitEvent{5, kSide, 1}, RecordEvent{5, kMain, 1}, kernel(kSide, 10, 50)}}));
  // kernel 0 [30, 230), kernel 1 [240, 740), kernel 2 after kernel 0 and the event gap
  CHECK(times_of(ran.activities) == std::vector<Times>{{30, 230}, {240, 740}, {250, 300}});
  CHECK(ran.activities[2].started_by == StartedBy::event_wait);
  CHECK(ran.activities[2].after == 0);
  REQUIRE(ran.syncs.size() == 1);
  CHECK(ran.calls[ran.syncs[0].record_call].start_ns == 10);
}

TEST_CASE("waiting for an event never recorded waits for nothing") {
  const Execution ran = run(round_program(
      {{kernel(kMain, 10, 200), StreamWaitEvent{5, kSide, 3}, kernel(kSide, 10, 50)}}));
  CHECK(ran.activities[1].start_ns == 45);
  CHECK(ran.syncs[0].record_call == kNone);
}

TEST_CASE("an event recorded on a stream that itself waits carries that wait on") {
  const Execution ran = run(round_program(
      {{kernel(kMain, 10, 200), RecordEvent{5, kMain, 1}, StreamWaitEvent{5, kSide, 1},
        RecordEvent{5, kSide, 2}, StreamWaitEvent{5, kOther, 2}, kernel(kOther, 10, 50)}}));
  CHECK(ran.activities[1].start_ns == 250);
}

TEST_CASE(
    "a graph's nodes follow the stream, their branch and their edges; the stream follows all") {
  LaunchGraph graph;
  graph.call_ns = 20;
  graph.on = kMain;
  graph.nodes = {{kernel_work("a", 100), 7, {}},
                 {kernel_work("b", 50), 20, {0}},
                 {kernel_work("c", 30), 7, {}},
                 {kernel_work("d", 10), 7, {1}}};
  const Execution ran =
      run(round_program({{kernel(kMain, 10, 200), graph, kernel(kMain, 10, 40)}}));
  // a after the kernel's 230 and gap; b and c after a and the graph gap; d after b [345, 395)
  CHECK(times_of(ran.activities) ==
        std::vector<Times>{{30, 230}, {240, 340}, {345, 395}, {345, 375}, {400, 410}, {420, 460}});
  CHECK(ran.calls[1].first_activity == 1);
  CHECK(ran.calls[1].activities == 4);
  CHECK(ran.activities[4].after == 2);
}

TEST_CASE("an event sync waits for the work before the record only") {
  const Execution ran = run(
      round_program({{kernel(kMain, 10, 200), RecordEvent{5, kMain, 1}, kernel(kMain, 10, 500),
                      synchronise(SyncScope::event, 5, {}, 1), FreeCall{"cudaFree", 5, 0, 0}}}));
  CHECK(ran.calls[3].end_ns == 230 + 40);
  CHECK(ran.calls[4].end_ns == 740 + 40);  // a free waits for the device
  CHECK(ran.syncs.size() == 1);            // and leaves no record
}

TEST_CASE("a blocking copy holds its call") {
  Submit copy = kernel(kMain, 5, 300);
  copy.waits = true;
  copy.return_delay_ns = 3;
  const Execution ran = run(round_program({{copy, PlainCall{"cudaGetDevice", 4}}}));
  CHECK(times_of(ran.calls) == std::vector<Times>{{0, 373}, {373, 377}});
}

TEST_CASE("work handed to another thread starts there after the wake time") {
  const Execution ran =
      run(round_program({{HostWork{100}, Signal{1}, WaitSignal{2}, kernel(kMain, 10, 5)},
                         {WaitSignal{1}, HostWork{60}, kernel(kMain, 10, 20), Signal{2}}}));
  // thread 1 wakes at 150, launches at 210; thread 0 wakes at 220 + 50
  CHECK(times_of(ran.calls) == std::vector<Times>{{210, 220}, {270, 280}});
  CHECK(ran.calls[0].thread == 1);
  CHECK(ran.steps.back().woken_by == kNone);
}

TEST_CASE("ranges cover what they enclose and know their parent and the work's op") {
  using gprofml::profile::RangeKind;
  const Execution ran =
      run(round_program({{HostWork{10}, BeginRange{RangeKind::op, "outer"}, HostWork{10},
                          BeginRange{RangeKind::python_function, "frame"}, kernel(kMain, 5, 5),
                          EndRange{}, HostWork{20}, EndRange{}, kernel(kMain, 5, 5)}}));
  CHECK(times_of(ran.ranges) == std::vector<Times>{{10, 45}, {20, 25}});
  CHECK(ran.ranges[1].parent == 0);
  CHECK(ran.calls[0].op == 0);
  CHECK(ran.calls[1].op == kNone);
}

TEST_CASE("programs that cannot run are refused") {
  CHECK_THROWS_WITH(run(round_program({{WaitSignal{1}}})), Catch::Contains("never comes"));
  CHECK_THROWS_WITH(run(round_program({{EndRange{}}})), Catch::Contains("not open"));
  CHECK_THROWS_WITH(run(round_program({{BeginRange{}}})), Catch::Contains("never closed"));
  CHECK_THROWS_WITH(run(round_program({{Signal{1}, Signal{1}}})), Catch::Contains("twice"));
  LaunchGraph graph;
  graph.nodes = {{kernel_work("a", 1), 7, {0}}};
  CHECK_THROWS_WITH(run(round_program({{graph}})), Catch::Contains("graph node 0"));
}

TEST_CASE("edits change one duration and nothing else") {
  LaunchGraph graph;
  graph.nodes = {{kernel_work("a", 1), 7, {}}, {kernel_work("b", 2), 7, {}}};
  const Program program = round_program({{HostWork{5}, graph}, {kernel(kMain, 9, 3)}});
  REQUIRE(work_count(program) == 3);
  CHECK(work_at(program, 2).duration_ns == 3);
  const Program longer = with_work_duration(program, 1, 20);
  CHECK(work_at(longer, 0).duration_ns == 1);
  CHECK(work_at(longer, 1).duration_ns == 20);
  CHECK(work_at(longer, 2).duration_ns == 3);
  CHECK_THROWS_AS(with_work_duration(program, 3, 1), std::out_of_range);
  const Program later = with_action_duration(program, 0, 0, 50);
  CHECK(run(later).calls.back().start_ns == run(program).calls.back().start_ns + 45);
  CHECK(std::get<Submit>(with_action_duration(program, 1, 0, 8).threads[1].actions[0]).call_ns ==
        8);
  CHECK_THROWS_AS(with_action_duration(round_program({{Signal{1}}}), 0, 0, 8),
                  std::invalid_argument);
}
