// The trace says what the execution did.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "test/synth/ablate.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/small_programs.hpp"
#include "test/synth/to_trace.hpp"
#include "test/synth/truth.hpp"

using namespace gprofml::synth;
using gprofml::profile::ActivityColumns;
using gprofml::profile::kNoRow;
using gprofml::profile::kUnknown;
using gprofml::profile::RowIndex;
using gprofml::profile::Trace;

namespace {

const StreamRef kMain{0, 7};
const StreamRef kSide{0, 20};

std::size_t linked(const Trace& trace) {
  std::size_t count = 0;
  for (const ActivityColumns* table : {static_cast<const ActivityColumns*>(&trace.kernels),
                                       static_cast<const ActivityColumns*>(&trace.copies),
                                       static_cast<const ActivityColumns*>(&trace.fills)}) {
    for (const RowIndex launch : table->launch) count += launch != kNoRow ? 1 : 0;
  }
  return count;
}

void check_consistent(const Trace& trace) {
  const auto broken = first_inconsistency(trace);
  INFO(broken.value_or(""));
  REQUIRE_FALSE(broken.has_value());
}

}  // namespace

TEST_CASE("a small program as a trace, row by row") {
  using gprofml::profile::RangeKind;
  using gprofml::profile::SyncKind;
  Submit first = kernel(kMain, 10, 200, "first");
  first.work.config.grid = {3, 2, 1};
  const Trace trace = to_trace(
      run(round_program({{HostWork{100}, BeginRange{RangeKind::op, "aten::mm"}, HostWork{1}, first,
                          RecordEvent{5, kMain, 4}, HostWork{1}, EndRange{}, HostWork{3},
                          StreamWaitEvent{5, kSide, 4}, kernel(kSide, 10, 50, "second")}})));
  check_consistent(trace);
  REQUIRE(trace.kernels.size() == 2);
  CHECK(trace.text(trace.kernels.name[0]) == "first");
  CHECK(trace.kernels.start_ns[0] == 131);
  CHECK(trace.kernels.end_ns[0] == 331);
  CHECK(trace.api_calls.start_ns[trace.kernels.launch[0]] == 101);
  CHECK(trace.text(trace.ranges.name[trace.kernels.op[0]]) == "aten::mm");
  CHECK(trace.kernels.op[1] == kNoRow);
  CHECK(trace.launch_configs[trace.kernels.launch_config[0]].grid[0] == 3);
  CHECK(trace.kernels.launch_config[1] == kNoRow);
  CHECK(trace.streams[trace.kernels.stream[1]].id == 20);
  REQUIRE(trace.syncs.size() == 1);
  CHECK(trace.syncs.kind[0] == SyncKind::stream_wait_event);
  CHECK(trace.streams[trace.syncs.stream[0]].id == 20);
  CHECK(trace.streams[trace.syncs.event_stream[0]].id == 7);
  CHECK(trace.text(trace.api_calls.name[trace.syncs.event_record[0]]) == "cudaEventRecord");
  CHECK(trace.text(trace.api_calls.name[trace.syncs.call[0]]) == "cudaStreamWaitEvent");
}

TEST_CASE("unknown event records and absent sync records") {
  const Execution ran = run(round_program({{kernel(kMain, 10, 200), RecordEvent{5, kMain, 1},
                                            StreamWaitEvent{5, kSide, 1}, kernel(kSide, 10, 50)}}));
  RecordOptions unknown;
  unknown.event_records = false;
  const Trace trace = to_trace(ran, unknown);
  CHECK(trace.syncs.event_record[0] == kNoRow);
  CHECK(trace.syncs.event_stream[0] == kNoRow);
  CHECK(trace.syncs.call[0] != kNoRow);
  RecordOptions none;
  none.sync_records = false;
  CHECK(to_trace(ran, none).syncs.size() == 0);
}

TEST_CASE("traces of random programs are consistent, complete and linked") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    INFO("seed " << seed);
    const Execution ran = run(random_program(seed));
    const Trace trace = to_trace(ran);
    check_consistent(trace);
    REQUIRE(trace.kernels.size() + trace.copies.size() + trace.fills.size() ==
            ran.activities.size());
    REQUIRE(trace.api_calls.size() == ran.calls.size());
    REQUIRE(trace.ranges.size() == ran.ranges.size());
    REQUIRE(trace.syncs.size() == ran.syncs.size());
    REQUIRE(linked(trace) == ran.activities.size());
    Nanoseconds kernel_ns = 0;
    for (std::size_t row = 0; row < trace.kernels.size(); ++row) {
      kernel_ns += trace.kernels.end_ns[row] - trace.kernels.start_ns[row];
      REQUIRE(trace.api_calls.start_ns[trace.kernels.launch[row]] < trace.kernels.start_ns[row]);
    }
    Nanoseconds expected_ns = 0;
    for (const auto& [device, truth] : device_truth(ran)) expected_ns += truth.kernel_ns;
    REQUIRE(kernel_ns == expected_ns);
  }
}

TEST_CASE("ablations take out one kind of knowledge") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    const Trace trace = to_trace(run(random_program(seed)));
    const Trace no_calls = without_api_calls(trace);
    const Trace no_syncs = without_sync_records(trace);
    const Trace no_ranges = without_ranges(trace);
    const Trace no_ids = without_correlation_ids(trace);
    for (const Trace* less : {&no_calls, &no_syncs, &no_ranges, &no_ids}) {
      check_consistent(*less);
      REQUIRE(less->kernels.start_ns == trace.kernels.start_ns);
      REQUIRE(less->kernels.end_ns == trace.kernels.end_ns);
    }
    REQUIRE(no_calls.api_calls.size() == 0);
    REQUIRE(linked(no_calls) == 0);
    REQUIRE(no_calls.syncs.size() == trace.syncs.size());
    REQUIRE(no_syncs.syncs.size() == 0);
    REQUIRE(linked(no_syncs) == linked(trace));
    REQUIRE(no_ranges.ranges.size() == 0);
    REQUIRE(linked(no_ranges) == linked(trace));
    REQUIRE(linked(no_ids) == 0);
    REQUIRE(no_ids.api_calls.size() == trace.api_calls.size());
    for (const std::int64_t id : no_ids.api_calls.correlation) REQUIRE(id == kUnknown);
  }
}

TEST_CASE("removed kernels are counted, and the submissions that lost everything") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    INFO("seed " << seed);
    const Trace trace = to_trace(run(random_program(seed)));
    const FewerKernels fewer = without_some_kernels(trace, 30, seed);
    check_consistent(fewer.trace);
    REQUIRE(fewer.kernels_removed > 0);
    REQUIRE(fewer.trace.kernels.size() + static_cast<std::size_t>(fewer.kernels_removed) ==
            trace.kernels.size());
    std::map<RowIndex, std::int64_t> work_of_call;  // positive: still has work
    std::int64_t lost = 0;
    for (RowIndex call = 0; call < trace.api_calls.size(); ++call) {
      const auto works = [call](const ActivityColumns& table) {
        return std::count(table.launch.begin(), table.launch.end(), call);
      };
      const bool before = works(trace.kernels) + works(trace.copies) + works(trace.fills) > 0;
      const bool after = works(fewer.trace.kernels) + works(trace.copies) + works(trace.fills) > 0;
      lost += before && !after ? 1 : 0;
    }
    REQUIRE(fewer.submissions_without_work == lost);
  }
  const Trace trace = to_trace(run(random_program(3)));
  CHECK(without_some_kernels(trace, 0, 1).kernels_removed == 0);
  CHECK(without_some_kernels(trace, 100, 1).trace.kernels.size() == 0);
}

TEST_CASE("collectives follow their kernel, and go with it") {
  std::vector<Action> actions;
  for (int i = 0; i < 40; ++i) {
    actions.emplace_back(HostWork{50});
    actions.emplace_back(kernel(kMain, 10, 20 + i));
  }
  Trace trace = to_trace(run(round_program({actions})));
  for (RowIndex row = 0; row < trace.kernels.size(); row += 2) {
    trace.collectives.kernel.push_back(row);
    for (auto* text : {&trace.collectives.communicator, &trace.collectives.operation,
                       &trace.collectives.dtype, &trace.collectives.ranks}) {
      text->push_back(0);
    }
    // The size tells later which kernel the row belongs to.
    trace.collectives.elements_in.push_back(trace.kernels.correlation[row]);
    trace.collectives.elements_out.push_back(0);
    trace.collectives.bytes.push_back(4096);
    trace.collectives.range.push_back(kNoRow);
    trace.collectives.group_size.push_back(2);
  }
  const FewerKernels fewer = without_some_kernels(trace, 50, 1);
  check_consistent(fewer.trace);
  const auto& collectives = fewer.trace.collectives;
  REQUIRE(collectives.size() > 0);
  REQUIRE(collectives.size() < trace.collectives.size());
  for (std::size_t row = 0; row < collectives.size(); ++row) {
    REQUIRE(fewer.trace.kernels.correlation[collectives.kernel[row]] ==
            collectives.elements_in[row]);
  }
}
