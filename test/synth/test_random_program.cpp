// What must hold in every execution, checked from its times alone, on many random programs.
#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "test/synth/random.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/to_kineto.hpp"
#include "test/synth/truth.hpp"

using namespace gprofml::synth;

namespace {

constexpr std::uint64_t kSeeds = 200;

// Activities of one stream in order of submission, outside graphs' other branches (random programs
// keep a graph on its stream).
std::map<StreamRef, std::vector<const Activity*>> by_stream(const Execution& ran) {
  std::map<StreamRef, std::vector<const Activity*>> streams;
  for (const Activity& activity : ran.activities) streams[activity.on].push_back(&activity);
  return streams;
}

void check_streams_in_order(const Execution& ran) {
  for (const auto& [on, work] : by_stream(ran)) {
    for (std::size_t i = 1; i < work.size(); ++i) {
      REQUIRE(work[i]->start_ns > work[i - 1]->end_ns);
    }
  }
}

void check_nothing_before_its_call(const Execution& ran) {
  for (const Activity& activity : ran.activities) {
    REQUIRE(activity.start_ns >=
            ran.calls[activity.call].start_ns + ran.program.timing.launch_latency_ns);
    REQUIRE(activity.end_ns - activity.start_ns ==
            work_at(ran.program, activity.number).duration_ns);
  }
}

// The last work put on `on` before call `before`, if any.
const Activity* last_before(const Execution& ran, StreamRef on, std::size_t before) {
  const Activity* last = nullptr;
  for (const Activity& activity : ran.activities) {
    if (activity.on == on && activity.call < before) last = &activity;
  }
  return last;
}

void check_event_wait(const Execution& ran, const SyncRun& sync) {
  if (sync.record_call == kNone) return;
  const Activity* producer = last_before(ran, sync.record_on, sync.record_call);
  if (producer == nullptr) return;
  if (sync.kind == gprofml::profile::SyncKind::event) {
    REQUIRE(ran.calls[sync.call].end_ns > producer->end_ns);
  }
  for (const Activity& activity : ran.activities) {
    const bool waits = sync.kind == gprofml::profile::SyncKind::stream_wait_event &&
                       activity.on == StreamRef{sync.device, sync.stream} &&
                       activity.call > sync.call;
    if (waits) REQUIRE(activity.start_ns > producer->end_ns);
  }
}

void check_sync(const Execution& ran, const SyncRun& sync) {
  const Call& call = ran.calls[sync.call];
  REQUIRE(sync.start_ns >= call.start_ns);
  REQUIRE(sync.end_ns <= call.end_ns);
  if (sync.kind == gprofml::profile::SyncKind::stream_wait_event ||
      sync.kind == gprofml::profile::SyncKind::event) {
    return check_event_wait(ran, sync);
  }
  for (const Activity& activity : ran.activities) {
    const bool in_scope = activity.on.device == sync.device && activity.call < sync.call &&
                          (sync.stream < 0 || activity.on.stream == sync.stream);
    if (in_scope) REQUIRE(call.end_ns >= activity.end_ns + ran.program.timing.sync_return_ns);
  }
}

void check_threads(const Execution& ran) {
  std::map<std::size_t, Nanoseconds> reached;
  for (std::size_t thread = 0; thread < ran.program.threads.size(); ++thread) {
    reached[thread] = ran.program.begin_ns + ran.program.threads[thread].start_ns;
  }
  for (const HostStep& step : ran.steps) {
    REQUIRE(step.start_ns == reached[step.thread]);
    REQUIRE(step.end_ns >= step.start_ns);
    reached[step.thread] = step.end_ns;
  }
}

void check_ranges_nest(const Execution& ran) {
  for (const RangeRun& range : ran.ranges) {
    REQUIRE(range.end_ns >= range.start_ns);
    if (range.parent == kNone) continue;
    REQUIRE(ran.ranges[range.parent].thread == range.thread);
    REQUIRE(ran.ranges[range.parent].start_ns <= range.start_ns);
    REQUIRE(ran.ranges[range.parent].end_ns >= range.end_ns);
  }
}

void check_chain(const Execution& ran) {
  Nanoseconds reached = ran.program.begin_ns;
  for (const ChainSegment& segment : critical_chain(ran)) {
    REQUIRE(segment.start_ns == reached);
    REQUIRE(segment.end_ns > segment.start_ns);
    reached = segment.end_ns;
  }
  REQUIRE(reached == last_work_end_ns(ran));
}

void check_truth_adds_up(const Execution& ran) {
  for (const auto& [device, truth] : device_truth(ran)) {
    REQUIRE(truth.span_ns == truth.busy_ns + truth.idle_ns);
    REQUIRE(truth.busy_ns == truth.kernel_union_ns + truth.copy_exposed_ns);
    REQUIRE(truth.communication_exposed_ns <= truth.communication_union_ns);
    REQUIRE(truth.kernel_union_ns <= truth.kernel_ns);
  }
}

std::set<std::size_t> work_on_chain(const Execution& ran) {
  std::set<std::size_t> numbers;
  for (const ChainSegment& segment : critical_chain(ran)) {
    if (segment.what <= ChainWhat::fill) numbers.insert(ran.activities[segment.subject].number);
  }
  return numbers;
}

}  // namespace

TEST_CASE("every random execution keeps the rules of the machine") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    INFO("seed " << seed);
    const Execution ran = run(random_program(seed));
    REQUIRE(ran.activities.size() >= 20);
    REQUIRE_FALSE(has_ties(ran));
    check_streams_in_order(ran);
    check_nothing_before_its_call(ran);
    for (const SyncRun& sync : ran.syncs) check_sync(ran, sync);
    check_threads(ran);
    check_ranges_nest(ran);
    check_chain(ran);
    check_truth_adds_up(ran);
  }
}

TEST_CASE("random programs are varied") {
  std::map<std::string, int> seen;
  std::set<ChainWhat> on_chains;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Execution ran = run(random_program(seed));
    seen["several threads"] += ran.program.threads.size() > 1;
    seen["two devices"] += device_truth(ran).size() > 1;
    seen["several streams"] += by_stream(ran).size() > 2;
    std::set<std::string> has;
    for (const Activity& activity : ran.activities) {
      has.insert(activity.graph_id == gprofml::profile::kUnknown ? "single" : "graph");
      has.insert(activity.started_by == StartedBy::event_wait ? "event wait decided" : "");
      has.insert(activity.work.kind == WorkKind::copy ? "copy" : "");
      has.insert(activity.work.kind == WorkKind::fill ? "fill" : "");
      has.insert(activity.work.kind == WorkKind::communication ? "communication" : "");
    }
    for (const HostStep& step : ran.steps) {
      has.insert(step.woken_by != kNone ? "hand-over decided" : "");
      has.insert(step.waited != kNone ? "sync decided" : "");
    }
    for (const std::string& what : has) ++seen[what];
    for (const ChainSegment& segment : critical_chain(ran)) on_chains.insert(segment.what);
  }
  for (const auto& [what, count] : seen) {
    INFO(what << ": " << count << " of " << kSeeds);
    CHECK(count >= 20);
  }
  CHECK(seen.size() == 12);  // eleven traits and the empty one
  CHECK(on_chains.size() == 13);
}

TEST_CASE("the same seed gives the same file, another seed another") {
  const std::string first = to_kineto_json(run(random_program(7)));
  CHECK(first == to_kineto_json(run(random_program(7))));
  CHECK(first != to_kineto_json(run(random_program(8))));
}

TEST_CASE("programs with ties have them") {
  ProgramShape shape;
  shape.ties = true;
  shape.streams = 3;
  CHECK(has_ties(run(random_program(1, shape))));
}

TEST_CASE("scaling a program scales every time of its execution") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Program program = random_program(seed);
    const Execution once = run(program);
    const Execution thrice = run(scaled(program, 3));
    REQUIRE(once.steps.size() == thrice.steps.size());
    for (std::size_t i = 0; i < once.activities.size(); ++i) {
      const Nanoseconds begin = program.begin_ns;
      REQUIRE(thrice.activities[i].start_ns - begin == 3 * (once.activities[i].start_ns - begin));
      REQUIRE(thrice.activities[i].end_ns - begin == 3 * (once.activities[i].end_ns - begin));
    }
  }
}

// With one host thread an execution is a sum-and-maximum of its durations: growing one can never
// make the end earlier, and on the chain moves it by exactly as much.
TEST_CASE("one thread: the chain is what decides, slack is what does not") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    ProgramShape shape = random_shape(seed);
    shape.threads = 1;
    shape.activities = 30;
    const Program program = random_program(seed, shape);
    const Execution ran = run(program);
    const Nanoseconds end_ns = last_work_end_ns(ran);
    const std::set<std::size_t> chain = work_on_chain(ran);
    Random random(seed);
    for (int i = 0; i < 5; ++i) {
      const std::size_t work = random.index(ran.activities.size());
      const Nanoseconds duration_ns = work_at(program, work).duration_ns;
      const auto end_with = [&](Nanoseconds change_ns) {
        return last_work_end_ns(run(with_work_duration(program, work, duration_ns + change_ns)));
      };
      INFO("seed " << seed << ", work " << work);
      const Nanoseconds slack = slack_ns(program, work);
      REQUIRE(end_with(slack) == end_ns);
      REQUIRE(end_with(slack + 1) == end_ns + 1);
      if (chain.count(work) != 0) {
        REQUIRE(slack == 0);
        REQUIRE(end_with(12345) == end_ns + 12345);
        const Nanoseconds competing = competing_slack_ns(program, work);
        REQUIRE(end_with(-competing) == end_ns - competing);
        if (competing < duration_ns) REQUIRE(end_with(-competing - 1) == end_ns - competing);
      } else {
        REQUIRE(end_with(-duration_ns) == end_ns);
      }
    }
  }
}
