// The truth against figures worked out by hand.
#include <catch2/catch.hpp>

#include "test/synth/small_programs.hpp"
#include "test/synth/truth.hpp"

using namespace gprofml::synth;

namespace {

const StreamRef kMain{0, 7};
const StreamRef kSide{0, 20};

Submit submit(StreamRef on, Work work) {
  Submit action;
  action.call_ns = 10;
  action.on = on;
  action.work = std::move(work);
  return action;
}

Work upload(Nanoseconds duration_ns) {
  using namespace gprofml::profile;
  return copy_work(CopyKind::host_to_device, MemoryKind::pinned, MemoryKind::device, 64,
                   duration_ns);
}

}  // namespace

TEST_CASE("device figures of overlapping work") {
  // kernel [30, 130), communication [40, 240), copy [50, 300), fill [400, 410), kernel on device 1
  const Execution ran = run(round_program(
      {{submit(kMain, kernel_work("k", 100)), submit(kSide, communication_work("nccl", 200)),
        submit({0, 30}, upload(250)), HostWork{340}, submit(kMain, fill_work(64, 10)),
        submit({1, 7}, kernel_work("k", 7))}}));
  const auto truth = device_truth(ran);
  REQUIRE(truth.size() == 2);
  DeviceTruth expected;
  expected.kernels = 2;
  expected.copies = 1;
  expected.fills = 1;
  expected.kernel_ns = 300;
  expected.copy_ns = 250;
  expected.fill_ns = 10;
  expected.busy_ns = 270 + 10;
  expected.kernel_union_ns = 210;
  expected.memory_union_ns = 260;
  expected.communication_union_ns = 200;
  expected.communication_exposed_ns = 240 - 130;
  expected.copy_exposed_ns = (300 - 240) + 10;
  expected.span_ns = 410 - 30;
  expected.idle_ns = 100;
  CHECK(truth.at(0) == expected);
  CHECK(truth.at(1).busy_ns == 7);
  CHECK(truth.at(1).idle_ns == 0);
}

TEST_CASE("the window ends with work, calls and ops, not with frames") {
  using gprofml::profile::RangeKind;
  const Execution ran = run(round_program(
      {{BeginRange{RangeKind::python_function, "frame"}, HostWork{5},
        BeginRange{RangeKind::op, "op"}, HostWork{5}, submit(kMain, kernel_work("k", 20)),
        HostWork{500}, EndRange{}, HostWork{5}, EndRange{}}}));
  CHECK(recorded_window(ran).from_ns == 5);
  CHECK(recorded_window(ran).to_ns == 520);
  CHECK(last_work_end_ns(ran) == 60);
}

TEST_CASE("calls that submit are told from those that do not") {
  LaunchGraph graph;
  graph.nodes = {{kernel_work("a", 1), 7, {}}, {kernel_work("b", 2), 7, {}}};
  const CallTruth truth =
      call_truth(run(round_program({{graph, submit(kMain, upload(5)), PlainCall{"cudaMalloc", 9},
                                     synchronise(SyncScope::device, 5)}})));
  CHECK(truth.calls == 4);
  CHECK(truth.submissions == 2);
  CHECK(truth.linked == 3);
}

TEST_CASE("the chain names what arrived last, back to the start") {
  const Execution ran = run(
      round_program({{HostWork{100}, Signal{1}},
                     {WaitSignal{1}, PlainCall{"cudaMalloc", 25}, kernel(kMain, 10, 200),
                      RecordEvent{5, kMain, 1}, StreamWaitEvent{5, kSide, 1}, kernel(kSide, 10, 50),
                      kernel(kSide, 10, 40), synchronise(SyncScope::device, 5)}}));
  const std::vector<ChainSegment> chain = critical_chain(ran);
  std::vector<std::pair<ChainWhat, Nanoseconds>> seen;
  for (const ChainSegment& segment : chain) seen.emplace_back(segment.what, segment.start_ns);
  const std::vector<std::pair<ChainWhat, Nanoseconds>> expected{
      {ChainWhat::host_work, 0},    {ChainWhat::wake, 100},       {ChainWhat::call, 150},
      {ChainWhat::launch, 175},     {ChainWhat::kernel, 205},     {ChainWhat::event_gap, 405},
      {ChainWhat::kernel, 425},     {ChainWhat::stream_gap, 475}, {ChainWhat::kernel, 485},
      {ChainWhat::sync_return, 525}};
  CHECK(seen == expected);
  CHECK(chain.back().end_ns == 565);
}

TEST_CASE(
    "slack is the room beside the chain, competing slack the room before another takes over") {
  // long [30, 330); short [40, 90) must end by 330 as well; the sync returns at 370
  const Program program = round_program(
      {{kernel(kMain, 10, 300), kernel(kSide, 10, 50), synchronise(SyncScope::device, 5)}});
  CHECK(slack_ns(program, 0) == 0);
  CHECK(slack_ns(program, 1) == 240);
  CHECK(competing_slack_ns(program, 0) == 240);
  CHECK(competing_slack_ns(program, 1) == 0);
}
