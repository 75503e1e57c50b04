// Who is charged with which delay, in programs small enough to know the answer.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "libanalysis/ranking/charged_delays.hpp"
#include "libanalysis/window/choose.hpp"
#include "test/synth/to_trace.hpp"
#include "test/synth/works.hpp"

namespace gprofml::analysis {
namespace {

using profile::Nanoseconds;
using synth::HostWork;
using synth::Submit;

const synth::StreamRef kFirst{0, 7};
const synth::StreamRef kSecond{0, 13};

Submit kernel(const std::string& name, Nanoseconds duration_ns, synth::StreamRef on = kFirst) {
  return {"cudaLaunchKernel", 2000, on, synth::kernel_work(name, duration_ns)};
}

synth::Synchronise device_sync() {
  synth::Synchronise sync;
  sync.on = kFirst;
  return sync;
}

struct Charge {
  std::int64_t count = 0;
  Nanoseconds ns = 0;
};

// Charges by the names of who waited and for whom.
std::map<std::pair<std::string, std::string>, Charge> charges(std::vector<synth::Action> actions,
                                                              const Steps& steps = {}) {
  synth::Program program;
  program.threads.push_back({1, "main", 0, std::move(actions)});
  const profile::Trace trace = synth::to_trace(synth::run(program));
  const DependencyGraph graph(trace);
  const auto name = [&](const Instance& i) {
    return std::string(i.is_call ? trace.text(trace.api_calls.name[i.row])
                                 : graph.work.name(trace, i.row));
  };
  std::map<std::pair<std::string, std::string>, Charge> sums;
  for (const ChargedDelay& d : charged_delays(graph, whole_trace(graph).value(), steps)) {
    Charge& sum = sums[{name(d.delayed), name(d.by)}];
    ++sum.count;
    sum.ns += d.ns;
  }
  return sums;
}

}  // namespace

TEST_CASE(
    "charged delays: in a deep queue a kernel is charged with its own duration, not the queue") {
  std::vector<synth::Action> actions;
  for (int i = 0; i < 50; ++i) {
    actions.push_back(kernel("long", 100'000));
    actions.push_back(kernel("short", 1000));
  }
  actions.push_back(device_sync());
  auto sums = charges(actions);
  // the queue is up to 5 ms deep by then; only the first "long" ends less than its own duration
  // after the other arrival (at 103.5 us, "short" could have started at 2 + 5 us)
  CHECK(sums[{"short", "long"}].count == 50);
  CHECK(sums[{"short", "long"}].ns == 49 * 100'000 + 96'500);
  CHECK(sums[{"long", "short"}].count == 49);
  CHECK(sums[{"long", "short"}].ns == 49 * 1000);
  // 100 launches of 2 us, then until the last kernel's end
  const Nanoseconds end = 3500 + 50 * 101'000 + 99 * 900;
  CHECK((sums[{"cudaDeviceSynchronize", "short"}].ns) == end - 200'000);
}

TEST_CASE("charged delays: a launch that comes late is charged, with its own duration at most") {
  std::vector<synth::Action> actions;
  for (int i = 0; i < 30; ++i) {
    actions.push_back(HostWork{50'000});
    actions.push_back(kernel("k", 5000));
    actions.push_back(device_sync());
  }
  auto sums = charges(actions);
  CHECK((sums[{"k", "cudaLaunchKernel"}].count) == 30);
  CHECK((sums[{"k", "cudaLaunchKernel"}].ns) == 30 * 2000);
  // each waits from its call, 2 us after the launch began, to the kernel's end at 3.5 + 5 us
  CHECK((sums[{"cudaDeviceSynchronize", "k"}].ns) == 30 * 6500);
  CHECK(sums.size() == 2);
}

TEST_CASE("charged delays: of two arrivals the later one is charged with what it was later by") {
  // "after" waits for its stream (busy until 603.5 us) and for the event behind "other"
  const auto program = [](Nanoseconds other_ns) {
    std::vector<synth::Action> actions{kernel("before", 600'000),
                                       kernel("other", other_ns, kSecond),
                                       synth::RecordEvent{1000, kSecond, 1},
                                       synth::StreamWaitEvent{1000, kFirst, 1},
                                       kernel("after", 900'000),
                                       device_sync()};
    return charges(actions);
  };
  auto other_last = program(700'000);  // ends at 2 + 3.5 + 700 us
  CHECK((other_last[{"after", "other"}].ns) == 102'000);
  CHECK((other_last.count({"after", "before"})) == 0);
  auto before_last = program(500'000);
  CHECK((before_last[{"after", "before"}].ns) == 98'000);
  CHECK((before_last.count({"after", "other"})) == 0);
}

TEST_CASE("charged delays: work with slack over 1 % of a step is not asked") {
  const std::vector<synth::Action> actions{kernel("main", 1'000'000), kernel("main", 1'000'000),
                                           kernel("aside", 1000, kSecond),
                                           kernel("aside", 1000, kSecond), device_sync()};
  auto sums = charges(actions);
  CHECK((sums.count({"main", "main"})) == 1);
  CHECK((sums.count({"aside", "cudaLaunchKernel"})) == 0);
  Steps long_steps;
  long_steps.count = 1;
  long_steps.median_ns = 1'000'000'000;
  CHECK((charges(actions, long_steps).count({"aside", "cudaLaunchKernel"})) == 1);
}

TEST_CASE("charged delays: a blocking copy waits for its own copy") {
  Submit copy{"cudaMemcpy", 2000, kFirst,
              synth::copy_work(profile::CopyKind::device_to_host, profile::MemoryKind::device,
                               profile::MemoryKind::pageable, 1 << 20, 80'000)};
  copy.waits = true;
  auto sums = charges({copy, HostWork{1000}, kernel("k", 100'000), device_sync()});
  // from the call's start: 3.5 us until the copy starts, 80 us of copying
  CHECK((sums[{"cudaMemcpy", copy.work.name}].ns) == 83'500);
}

}  // namespace gprofml::analysis
