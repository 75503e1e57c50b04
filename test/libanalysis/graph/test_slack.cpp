// Slack against forward re-execution with one event delayed, and against the simulator's truth.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <tuple>
#include <variant>

#include "libanalysis/graph/slack.hpp"
#include "test/seeds.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/to_trace.hpp"
#include "test/synth/truth.hpp"
#include "test/synth/works.hpp"

namespace gprofml::analysis {
namespace {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

constexpr Nanoseconds kFar = 1'000'000'000'000;

// The recorded run as a list of events and what each waited for, to be run again with delays.
class Rerun {
 public:
  explicit Rerun(const DependencyGraph& graph) : graph_(graph) {
    for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
      events_.push_back({graph.work.corrected_end_ns[i], true, {}});
    }
    const profile::ApiCallColumns& calls = graph.trace.api_calls;
    for (RowIndex t = 0; t < graph.threads.size(); ++t) {
      for (const RowIndex c : graph.threads[t].outermost_calls) {
        const bool blocks = graph.blocking.blocks(c);
        start_[c] = add({calls.end_ns[c], !blocks, {}});
        end_[c] = blocks ? add({calls.end_ns[c], true, {}}) : start_[c];
      }
    }
    for (ActivityIndex i = 0; i < graph.work.size(); ++i) wait_for_arrivals(i);
    for (RowIndex t = 0; t < graph.threads.size(); ++t) {
      const std::vector<RowIndex>& rows = graph.threads[t].outermost_calls;
      for (std::size_t k = 1; k < rows.size(); ++k) {
        events_[start_[rows[k]]].waits.push_back({end_[rows[k - 1]], calls.end_ns[rows[k - 1]]});
      }
      for (const RowIndex c : rows) wait_for_work(c);
    }
  }

  std::size_t start_of(RowIndex call) const { return start_.at(call); }
  std::size_t return_of(RowIndex call) const { return end_.at(call); }

  // Delays of all events when `event` is delayed by `delay`: runs until nothing moves any more.
  std::vector<Nanoseconds> delays(std::size_t event, Nanoseconds delay) const {
    std::vector<Nanoseconds> late(events_.size(), 0);
    late[event] = delay;
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t e = 0; e < events_.size(); ++e) {
        if (events_[e].waits.empty()) continue;
        Nanoseconds before = std::numeric_limits<Nanoseconds>::min();
        Nanoseconds now = before;
        for (const WaitsFor& w : events_[e].waits) {
          before = std::max(before, w.arrived_ns);
          now = std::max(now, w.arrived_ns + late[w.event]);
        }
        if (now - before > late[e]) {
          late[e] = now - before;
          moved = true;
        }
      }
    }
    return late;
  }

  // By how much the last end up to `until` moves.
  Nanoseconds sink_moves(std::size_t event, Nanoseconds delay, Nanoseconds until) const {
    const std::vector<Nanoseconds> late = delays(event, delay);
    Nanoseconds before = std::numeric_limits<Nanoseconds>::min();
    Nanoseconds now = before;
    for (std::size_t e = 0; e < events_.size(); ++e) {
      if (!events_[e].ends || events_[e].end_ns > until) continue;
      before = std::max(before, events_[e].end_ns);
      now = std::max(now, events_[e].end_ns + late[e]);
    }
    return now - before;
  }

 private:
  struct WaitsFor {
    std::size_t event;
    Nanoseconds arrived_ns;
  };
  struct Event {
    Nanoseconds end_ns;
    bool ends;
    std::vector<WaitsFor> waits;
  };

  std::size_t add(Event e) {
    events_.push_back(std::move(e));
    return events_.size() - 1;
  }

  // By definition, looking at all activities: quadratic on purpose.
  void wait_for_arrivals(ActivityIndex i) {
    const Activities& work = graph_.work;
    const Nanoseconds start = work.start_ns[i];
    ActivityIndex on_stream = kNoActivity, node = kNoActivity;
    for (ActivityIndex j = 0; j < i; ++j) {
      if (work.stream[j] == work.stream[i]) on_stream = j;
      if (work.same_launch(i, j) && work.corrected_end_ns[j] <= start &&
          (node == kNoActivity || work.corrected_end_ns[j] >= work.corrected_end_ns[node])) {
        node = j;
      }
    }
    std::vector<ActivityIndex> before{on_stream, node};
    const auto producers = graph_.waits.producers(i);
    before.insert(before.end(), producers.begin(), producers.end());
    for (const ActivityIndex j : before) {
      if (j == kNoActivity || j >= i) continue;
      events_[i].waits.push_back({j, std::min(work.corrected_end_ns[j], start)});
    }
    if (work.linked(i) && graph_.launch_start_ns(i) <= start) {
      const RowIndex call = graph_.threads.last_call_before(
          graph_.trace.api_calls.thread[work.call[i]], graph_.launch_start_ns(i) + 1);
      events_[i].waits.push_back(
          {start_.at(call), std::min(graph_.launch_start_ns(i) + graph_.latency.lambda_ns, start)});
    }
  }

  void wait_for_work(RowIndex call) {
    if (start_[call] == end_[call]) return;
    const Nanoseconds begin = graph_.trace.api_calls.start_ns[call];
    const Nanoseconds end = graph_.trace.api_calls.end_ns[call];
    std::vector<WaitsFor>& waits = events_[end_[call]].waits;
    waits.push_back({start_[call], begin});
    for (const Awaited& a : graph_.blocking.last_of_each_stream(call, end)) {
      waits.push_back({a.activity, std::min(a.end_ns, end)});
    }
  }

  const DependencyGraph& graph_;
  std::vector<Event> events_;
  std::map<RowIndex, std::size_t> start_;
  std::map<RowIndex, std::size_t> end_;
};

void check_slack(const Rerun& rerun, std::size_t event, Nanoseconds slack, Nanoseconds until) {
  if (slack == Slack::kUnlimited) {
    CHECK(rerun.sink_moves(event, kFar, until) == 0);
    return;
  }
  CHECK(rerun.sink_moves(event, slack, until) == 0);
  CHECK(rerun.sink_moves(event, slack + 1, until) == 1);
}

bool may_block(const synth::Action& action) {
  const auto* submit = std::get_if<synth::Submit>(&action);
  return std::holds_alternative<synth::Synchronise>(action) ||
         std::holds_alternative<synth::FreeCall>(action) || (submit != nullptr && submit->waits);
}

// A stream on which nothing follows a wait for an event still keeps a synchronisation waiting; in
// definitions.md a wait belongs to the work that follows it.
bool delays_a_synchronisation(const std::vector<synth::Action>& actions, std::size_t wait) {
  const synth::StreamRef stream = std::get<synth::StreamWaitEvent>(actions[wait]).on;
  for (std::size_t k = wait + 1; k < actions.size(); ++k) {
    const auto* submit = std::get_if<synth::Submit>(&actions[k]);
    if (submit != nullptr && submit->on == stream) return false;
    if (may_block(actions[k])) return true;
  }
  return false;
}

void remove_waits_without_work(std::vector<synth::Action>& actions) {
  for (std::size_t k = actions.size(); k-- > 0;) {
    if (std::holds_alternative<synth::StreamWaitEvent>(actions[k]) &&
        delays_a_synchronisation(actions, k)) {
      actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
}

// Every call that may wait lasts as long without waiting as its return takes.
void make_calls_wait_only(std::vector<synth::Action>& actions, Nanoseconds back) {
  for (synth::Action& action : actions) {
    if (auto* submit = std::get_if<synth::Submit>(&action)) {
      submit->work.start_delay_ns = 0;
      if (submit->waits) submit->call_ns = back + submit->return_delay_ns;
    } else if (auto* sync = std::get_if<synth::Synchronise>(&action)) {
      sync->call_ns = back + sync->return_delay_ns;
    } else if (auto* free = std::get_if<synth::FreeCall>(&action)) {
      free->call_ns = back + free->return_delay_ns;
    }
  }
}

// A program in which the analysis can know all that matters, so that its slack is the true one:
// besides the above there are no gaps on streams, and λ can be measured.
synth::Program without_hidden_times(synth::Program program) {
  program.timing.launch_latency_ns = 5000;
  program.timing.stream_gap_ns = 0;
  program.timing.event_gap_ns = 0;
  for (synth::HostThread& thread : program.threads) {
    remove_waits_without_work(thread.actions);
    make_calls_wait_only(thread.actions, program.timing.sync_return_ns);
  }
  return program;
}

using Key = std::tuple<Nanoseconds, Nanoseconds, std::string, std::int64_t>;

}  // namespace

TEST_CASE("slack: delaying by it moves nothing at the end, one more moves it by one") {
  for (int seed = 0; seed < test::seed_count(100); ++seed) {
    INFO("seed " << seed);
    synth::ProgramShape shape = synth::random_shape(static_cast<std::uint64_t>(seed));
    shape.activities = std::min(shape.activities, 80);
    shape.cross_device_events = seed % 2 == 1;
    const profile::Trace trace =
        synth::to_trace(synth::run(synth::random_program(static_cast<std::uint64_t>(seed), shape)));
    const DependencyGraph graph(trace);
    const Rerun rerun(graph);
    const Nanoseconds end = sink_at_last_end(graph, std::numeric_limits<Nanoseconds>::max()).at_ns;
    const Nanoseconds middle = graph.work.corrected_end_ns[graph.work.size() / 2];
    for (const Nanoseconds until : {end, middle}) {
      const Sink sink = sink_at_last_end(graph, until);
      const Slack slack(graph, sink);
      for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
        check_slack(rerun, i, slack.of_work(i), sink.at_ns);
      }
      for (RowIndex t = 0; t < graph.threads.size(); ++t) {
        for (const RowIndex c : graph.threads[t].outermost_calls) {
          check_slack(rerun, rerun.start_of(c), slack.of_call(c), sink.at_ns);
          check_slack(rerun, rerun.return_of(c), slack.of_return(c), sink.at_ns);
        }
      }
    }
  }
}

TEST_CASE("slack: towards the start of one activity") {
  for (int seed = 0; seed < test::seed_count(100); ++seed) {
    INFO("seed " << seed);
    synth::ProgramShape shape = synth::random_shape(static_cast<std::uint64_t>(seed) + 1000);
    shape.activities = std::min(shape.activities, 60);
    const profile::Trace trace =
        synth::to_trace(synth::run(synth::random_program(static_cast<std::uint64_t>(seed), shape)));
    const DependencyGraph graph(trace);
    const Rerun rerun(graph);
    const auto last = static_cast<ActivityIndex>(graph.work.size() * 3 / 4);
    const Slack slack(graph, {graph.work.start_ns[last], last});
    for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
      const Nanoseconds s = slack.of_work(i);
      if (s == Slack::kUnlimited) {
        CHECK(rerun.delays(i, kFar)[last] == 0);
      } else {
        CHECK(rerun.delays(i, s)[last] == 0);
        CHECK(rerun.delays(i, s + 1)[last] == 1);
      }
    }
  }
}

TEST_CASE("slack: is what a run of the program with longer work shows") {
  int checked = 0;
  for (int seed = 0; seed < test::seed_count(100); ++seed) {
    INFO("seed " << seed);
    synth::ProgramShape shape;
    shape.streams = 1 + seed % 4;
    shape.activities = 60;
    shape.graphs = false;
    const synth::Program program =
        without_hidden_times(synth::random_program(static_cast<std::uint64_t>(seed), shape));
    const synth::Execution execution = synth::run(program);
    const profile::Trace trace = synth::to_trace(execution);
    const DependencyGraph graph(trace);
    REQUIRE(graph.latency.lambda_ns == program.timing.launch_latency_ns);
    const Slack slack(graph, sink_at_last_end(graph, std::numeric_limits<Nanoseconds>::max()));
    std::map<Key, std::vector<ActivityIndex>> known;
    for (ActivityIndex i = 0; i < graph.work.size(); ++i) {
      known[{graph.work.start_ns[i], graph.work.end_ns[i], std::string(graph.work.name(trace, i)),
             trace.streams[graph.work.stream[i]].id}]
          .push_back(i);
    }
    for (const synth::Activity& a : execution.activities) {
      const std::vector<ActivityIndex>& found =
          known[{a.start_ns, a.end_ns, a.work.name, a.on.stream}];
      REQUIRE(!found.empty());
      if (found.size() > 1) continue;
      INFO("work " << a.number << " " << a.work.name);
      CHECK(slack.of_work(found[0]) == synth::slack_ns(program, a.number));
      ++checked;
    }
  }
  CHECK(checked >= 50);
}

TEST_CASE("slack: calls and work of one instant that wait for each other in a circle") {
  // clocks of 1 us: a blocking call of no length, its own launch and work, all at once
  profile::Trace trace;
  trace.processes.push_back({});
  trace.threads.push_back({0, 1, 1, 0});
  trace.threads.push_back({0, 1, 2, 0});
  profile::Device device;
  device.process = 0;
  trace.devices.push_back(device);
  trace.contexts.push_back({0, 0, 1});
  trace.streams.push_back({0, 7});
  const auto call = [&](const char* name, RowIndex thread, Nanoseconds start, Nanoseconds end) {
    profile::ApiCallColumns& c = trace.api_calls;
    c.start_ns.push_back(start);
    c.end_ns.push_back(end);
    c.name.push_back(trace.intern(name));
    c.thread.push_back(thread);
    c.correlation.push_back(static_cast<std::int64_t>(c.size()));
    c.kind.push_back(profile::ApiKind::runtime);
  };
  const auto kernel = [&](RowIndex launch, Nanoseconds start, Nanoseconds end) {
    profile::KernelColumns& k = trace.kernels;
    k.start_ns.push_back(start);
    k.end_ns.push_back(end);
    k.name.push_back(trace.intern("k"));
    k.stream.push_back(0);
    k.launch.push_back(launch);
    k.correlation.push_back(launch + 1);
    k.graph_node.push_back(kNoRow);
    k.op.push_back(kNoRow);
    k.sequence.push_back(launch);
    k.launch_config.push_back(kNoRow);
  };
  call("cudaLaunchKernel", 0, 1000, 2000);
  call("cudaDeviceSynchronize", 0, 3000, 3000);
  call("cudaLaunchKernel", 0, 3000, 3000);
  call("cudaLaunchKernel", 1, 2000, 3000);
  kernel(2, 3000, 3000);
  kernel(0, 3000, 3000);
  kernel(3, 3000, 9000);
  const DependencyGraph graph(trace);
  const Slack slack(graph, sink_at_last_end(graph, 9000));
  CHECK(slack.of_work(2) == 0);
  CHECK(slack.of_work(1) == 0);
  CHECK(slack.of_call(0) == slack.of_work(1));
}

}  // namespace gprofml::analysis
