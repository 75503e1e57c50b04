// The critical path against planted truth: programs of the simulator, whose own record of what
// decided each start is the exact answer, and which can be run again with one duration changed.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>

#include "libanalysis/graph/dependency_graph.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/seeds.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/to_trace.hpp"
#include "test/synth/truth.hpp"

using namespace gprofml;
using profile::Nanoseconds;

namespace {

using Interval = std::pair<Nanoseconds, Nanoseconds>;
using OnPath = std::map<Interval, Nanoseconds>;  // a GPU activity's times → its time on the path

constexpr Nanoseconds kLaunchLatency = 5'000;  // λ where a file has too few launches to measure it

// What a trace cannot tell apart is not in these programs: calls that are long by themselves and
// hold their own copy, synchronisations that are long by themselves, and frees of one device of
// several (a trace does not say which device a free waited for).
void make_certain(synth::Action& action, int devices) {
  if (auto* submit = std::get_if<synth::Submit>(&action)) {
    if (submit->work.kind == synth::WorkKind::copy) {
      submit->call_ns = std::min<Nanoseconds>(submit->call_ns, 3'000);
    }
  } else if (auto* sync = std::get_if<synth::Synchronise>(&action)) {
    sync->call_ns = std::min<Nanoseconds>(sync->call_ns, 1'000);
  } else if (auto* free = std::get_if<synth::FreeCall>(&action)) {
    free->call_ns = std::min<Nanoseconds>(free->call_ns, 1'000);
    if (devices > 1) action = synth::PlainCall{"cudaMalloc", free->call_ns};
  }
}

void remove_jitter(synth::Action& action) {
  if (auto* submit = std::get_if<synth::Submit>(&action)) {
    submit->work.start_delay_ns = 0;
    submit->return_delay_ns = 0;
  } else if (auto* graph = std::get_if<synth::LaunchGraph>(&action)) {
    for (synth::GraphNodeWork& node : graph->nodes) node.work.start_delay_ns = 0;
  } else if (auto* sync = std::get_if<synth::Synchronise>(&action)) {
    sync->return_delay_ns = 0;
  } else if (auto* free = std::get_if<synth::FreeCall>(&action)) {
    free->return_delay_ns = 0;
  }
}

synth::Program certain_program(std::uint64_t seed, int activities) {
  synth::ProgramShape shape = synth::random_shape(seed);
  shape.threads = 1;
  shape.hand_overs = false;
  shape.activities = std::min(shape.activities, activities);
  synth::Program program = synth::random_program(seed, shape);
  for (synth::HostThread& thread : program.threads) {
    for (synth::Action& action : thread.actions) make_certain(action, shape.devices);
  }
  return program;
}

// A machine without jitter: what arrives last is then certain from the trace alone, and the path
// must equal the simulator's chain exactly. (With jitter a launch and a predecessor that arrive
// within it of each other cannot be told apart by anybody.)
synth::Program exact_program(std::uint64_t seed) {
  synth::Program program = certain_program(seed, 1'000);
  program.timing.launch_latency_ns = kLaunchLatency;
  program.timing.stream_gap_ns = 0;
  program.timing.event_gap_ns = 0;
  program.timing.graph_gap_ns = 0;
  for (synth::HostThread& thread : program.threads) {
    for (synth::Action& action : thread.actions) remove_jitter(action);
  }
  return program;
}

// As text, so that a failing check prints what differs.
std::string text(const OnPath& on_path, Nanoseconds from) {
  std::string lines;
  for (const auto& [times, ns] : on_path) {
    lines += fmt::format("[{}, {}) {} ns\n", times.first - from, times.second - from, ns);
  }
  return lines;
}

struct Analysed {
  analysis::CriticalPath path;
  OnPath on_path;
};

Analysed analyse(const synth::Program& program) {
  const profile::Trace trace = synth::to_trace(synth::run(program));
  const analysis::DependencyGraph graph(trace);
  Analysed result;
  result.path = test::analyze_all(trace).critical_path;
  for (const analysis::PathSegment& s : result.path.segments) {
    if (analysis::is_gpu_work(s.time_class)) {
      result.on_path[{graph.work.start_ns[s.row], graph.work.end_ns[s.row]}] += s.duration_ns;
    }
  }
  return result;
}

OnPath true_chain(const synth::Execution& execution) {
  OnPath chain;
  for (const synth::ChainSegment& s : synth::critical_chain(execution)) {
    if (s.what > synth::ChainWhat::fill) continue;
    const synth::Activity& a = execution.activities[s.subject];
    chain[{a.start_ns, a.end_ns}] += s.end_ns - s.start_ns;
  }
  return chain;
}

Nanoseconds window_of(const synth::Program& program) {
  const synth::Interval window = synth::recorded_window(synth::run(program));
  return synth::last_work_end_ns(synth::run(program)) - window.from_ns;
}

}  // namespace

TEST_CASE("the path's GPU work is the simulator's own chain, to the nanosecond") {
  const int seeds = test::seed_count(500);
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const synth::Program program = exact_program(static_cast<std::uint64_t>(seed));
    const synth::Execution execution = synth::run(program);
    const Analysed analysed = analyse(program);
    REQUIRE(analysed.path.exists);
    CHECK(analysed.path.inferred_ns == 0);
    CHECK(text(analysed.on_path, program.begin_ns) ==
          text(true_chain(execution), program.begin_ns));
  }
}

TEST_CASE("shrinking work on the path shortens the window by exactly that") {
  const int seeds = test::seed_count(200);
  int shrunk = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const synth::Program program = exact_program(static_cast<std::uint64_t>(seed));
    const synth::Execution execution = synth::run(program);
    const Analysed analysed = analyse(program);
    const Nanoseconds before = window_of(program);
    for (std::size_t i = 0; i < execution.activities.size(); i += 7) {
      const synth::Activity& a = execution.activities[i];
      const auto found = analysed.on_path.find({a.start_ns, a.end_ns});
      if (found == analysed.on_path.end()) continue;
      const Nanoseconds competing = synth::competing_slack_ns(program, a.number);
      const Nanoseconds less = std::min(found->second, competing) / 2;
      if (less == 0) continue;
      ++shrunk;
      CHECK(window_of(synth::with_work_duration(program, a.number, a.work.duration_ns - less)) ==
            before - less);
    }
  }
  CHECK(shrunk > seeds);
}

TEST_CASE("shrinking work off the path changes nothing") {
  const int seeds = test::seed_count(200);
  int shrunk = 0;
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const synth::Program program = exact_program(static_cast<std::uint64_t>(seed));
    const synth::Execution execution = synth::run(program);
    const Analysed analysed = analyse(program);
    const Nanoseconds before = window_of(program);
    for (std::size_t i = 0; i < execution.activities.size(); i += 7) {
      const synth::Activity& a = execution.activities[i];
      if (analysed.on_path.count({a.start_ns, a.end_ns}) != 0) continue;
      ++shrunk;
      CHECK(window_of(synth::with_work_duration(program, a.number, a.work.duration_ns / 2)) ==
            before);
    }
  }
  CHECK(shrunk > 0);
}

TEST_CASE("with jitter: what is far from a tie is on the path, what has room is not") {
  // launch latency, gaps and return delays vary by less than this in the generator's machine
  constexpr Nanoseconds kJitter = 12'000;
  const int seeds = test::seed_count(100);
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const synth::Program program = certain_program(static_cast<std::uint64_t>(seed), 80);
    const synth::Execution execution = synth::run(program);
    const Analysed analysed = analyse(program);
    for (const synth::Activity& a : execution.activities) {
      const bool on_path = analysed.on_path.count({a.start_ns, a.end_ns}) != 0;
      INFO("activity " << a.number << " " << a.work.name);
      if (on_path) {
        CHECK(synth::slack_ns(program, a.number) <= kJitter);
      } else {
        CHECK(synth::competing_slack_ns(program, a.number) <= kJitter);
      }
    }
  }
}

TEST_CASE("a Python frame or an op that ends last changes nothing but the end") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const synth::Program program = exact_program(seed);
    profile::Trace trace = synth::to_trace(synth::run(program));
    const analysis::CriticalPath before = test::analyze_all(trace).critical_path;
    const auto add_range = [&](profile::RangeKind kind, Nanoseconds later) {
      profile::RangeColumns& r = trace.ranges;
      const Nanoseconds end = test::analyze_all(trace).window.to_ns;
      r.start_ns.push_back(end - 1);
      r.end_ns.push_back(end + later);
      r.name.push_back(trace.intern("ends last"));
      r.thread.push_back(0);
      r.kind.push_back(kind);
      r.domain.push_back(0);
      r.external_id.push_back(profile::kUnknown);
      r.category.push_back(0);
      r.color.push_back(profile::kUnknown);
      profile::canonicalise(trace);
    };
    add_range(profile::RangeKind::python_function, 5'000'000);
    const analysis::CriticalPath framed = test::analyze_all(trace).critical_path;
    CHECK(framed.by_class == before.by_class);
    CHECK(framed.window_ns == before.window_ns);
    add_range(profile::RangeKind::op, 7'000);
    analysis::CriticalPath expected = before;
    expected.by_class[static_cast<std::size_t>(analysis::TimeClass::after_last_gpu_work)] += 7'000;
    const analysis::CriticalPath longer = test::analyze_all(trace).critical_path;
    CHECK(longer.gpu_ns == before.gpu_ns);
    CHECK(longer.by_class == expected.by_class);
    CHECK(longer.window_ns == before.window_ns + 7'000);
  }
}
