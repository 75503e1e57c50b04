// When is recorded: what opens and closes windows, and what is in them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "injection/windows.hpp"

using namespace gprofml::injection;

namespace {

using Interval = std::pair<std::int64_t, std::int64_t>;
constexpr std::int64_t kOpen = Windows::kOpen;
constexpr std::int64_t kStart = 1000;

/// Windows and what they have told, complete or not.
class Recorded {
 public:
  explicit Recorded(const Options& options) : options_(options) {
    windows->start(options_, kStart);
  }

  void range(std::int64_t time, std::uint64_t id, bool begins) {
    windows->trigger({time, id, begins ? TriggerKind::range_begins : TriggerKind::range_ends});
  }
  void trigger(std::int64_t time, TriggerKind kind) { windows->trigger({time, 0, kind}); }

  /// All that have settled at once.
  void settle() {
    windows->settle([](Window&) {}, [](const Window&) { return true; });
    tell();
  }
  void tell() {
    windows->tell_news([this](const Window& window) {
      if (told_.size() <= window.index) told_.resize(window.index + 1);
      told_[window.index] = {window.start_ns, window.end_ns};
      reasons_.push_back(window.reason);
    });
  }
  std::vector<Interval> all() {
    tell();
    return told_;
  }
  const std::vector<std::string>& reasons() const { return reasons_; }

  // Far too large for the stack, and zeroed as the recorder's is.
  std::unique_ptr<Windows> windows = std::make_unique<Windows>();

 private:
  Options options_;
  std::vector<Interval> told_;
  std::vector<std::string> reasons_;
};

Options ranges_of(const char* name, std::int64_t index = Options::kAnyIndex) {
  Options options;
  std::snprintf(options.range, sizeof options.range, "%s", name);
  options.range_index = index;
  return options;
}

Options steps_of(const char* step, std::uint32_t wait, std::uint32_t warmup, std::uint32_t active,
                 std::uint32_t repeat = 1) {
  Options options;
  std::snprintf(options.step, sizeof options.step, "%s", step);
  options.steps_wait = wait;
  options.steps_warmup = warmup;
  options.steps_active = active;
  options.steps_repeat = repeat;
  return options;
}

/// Ten steps of 100, one after the other from 2000 on, as ranges.
std::vector<Interval> windows_of_ranges(const Options& options) {
  Recorded recorded(options);
  for (int step = 0; step < 10; ++step) {
    recorded.range(2000 + step * 100, 1 + static_cast<std::uint64_t>(step), true);
    recorded.range(2090 + step * 100, 1 + static_cast<std::uint64_t>(step), false);
  }
  return recorded.all();
}

}  // namespace

TEST_CASE("without options everything is recorded and there are no windows") {
  Recorded recorded{Options{}};
  CHECK_FALSE(recorded.windows->is_on());
  recorded.windows->advance(1'000'000);
  CHECK(recorded.all().empty());
}

TEST_CASE("delay and duration") {
  Options options;
  options.delay_ns = 500;
  options.duration_ns = 200;
  Recorded recorded(options);
  CHECK(recorded.windows->is_on());
  recorded.windows->advance(kStart + 499);
  CHECK(recorded.all().empty());
  // However late it is looked: the window is as planned, and there is one.
  recorded.windows->advance(kStart + 10'000);
  CHECK(recorded.all() == std::vector<Interval>{{kStart + 500, kStart + 700}});
  recorded.settle();
  recorded.windows->advance(kStart + 20'000);
  CHECK(recorded.all().size() == 1);
  CHECK(recorded.reasons().front() == "time");
}

TEST_CASE("a duration alone begins with the recording, a delay alone never ends") {
  Options duration;
  duration.duration_ns = 200;
  Recorded until(duration);
  until.windows->advance(kStart);
  CHECK(until.all() == std::vector<Interval>{{0, kOpen}});
  until.windows->advance(kStart + 200);
  CHECK(until.all() == std::vector<Interval>{{0, kStart + 200}});

  Options delay;
  delay.delay_ns = 200;
  Recorded from(delay);
  from.windows->advance(kStart + 250);
  from.windows->advance(kStart + 999'999);
  CHECK(from.all() == std::vector<Interval>{{kStart + 200, kOpen}});
}

TEST_CASE("each occurrence of a range, the k-th alone, and those after the delay") {
  const std::vector<Interval> each = windows_of_ranges(ranges_of("r"));
  REQUIRE(each.size() == 10);
  CHECK(each[3] == Interval{2300, 2390});
  CHECK(windows_of_ranges(ranges_of("r", 3)) == std::vector<Interval>{{2300, 2390}});
  CHECK(windows_of_ranges(ranges_of("r", 10)).empty());
  Options late = ranges_of("r", 0);
  late.delay_ns = 2450 - kStart;
  // The first of those that begin once the delay is over.
  CHECK(windows_of_ranges(late) == std::vector<Interval>{{2500, 2590}});
  Options brief = ranges_of("r", 3);
  brief.duration_ns = 40;
  CHECK(windows_of_ranges(brief) == std::vector<Interval>{{2300, 2340}});
}

TEST_CASE("ranges of several threads that overlap are one window, from the first to the last") {
  Recorded recorded(ranges_of("r"));
  recorded.range(2000, 1, true);
  recorded.range(2010, 2, true);
  recorded.range(2050, 1, false);
  CHECK(recorded.windows->is_open());
  recorded.range(2080, 99, false);  // of another name
  recorded.range(2090, 2, false);
  recorded.range(2095, 3, true);
  CHECK(recorded.all() == std::vector<Interval>{{2000, 2090}, {2095, kOpen}});
}

TEST_CASE("steps by range: active ones as one window, again and again") {
  CHECK(windows_of_ranges(steps_of("r", 2, 1, 3)) == std::vector<Interval>{{2300, 2590}});
  CHECK(windows_of_ranges(steps_of("r", 0, 0, 2)) == std::vector<Interval>{{2000, 2190}});
  CHECK(windows_of_ranges(steps_of("r", 1, 1, 2, 2)) ==
        std::vector<Interval>{{2200, 2390}, {2600, 2790}});
  // Until the end, the last of them unfinished.
  CHECK(windows_of_ranges(steps_of("r", 1, 0, 3, 0)) ==
        std::vector<Interval>{{2100, 2390}, {2500, 2790}, {2900, kOpen}});
}

TEST_CASE("steps by graph launch and by synchronisation") {
  Recorded graphs(steps_of("graph", 2, 0, 2));
  CHECK(graphs.windows->watches_graphs());
  for (int i = 0; i < 8; ++i) graphs.trigger(2000 + i * 100, TriggerKind::graph_launch);
  CHECK(graphs.all() == std::vector<Interval>{{2200, 2400}});
  CHECK(graphs.reasons().front() == "steps graph");

  Recorded syncs(steps_of("sync", 2, 0, 2));
  for (int i = 0; i < 8; ++i) syncs.trigger(2000 + i * 100, TriggerKind::synchronised);
  CHECK(syncs.all() == std::vector<Interval>{{2100, 2300}});

  // The first step by synchronisation has begun with the recording.
  Recorded first(steps_of("sync", 0, 0, 1));
  CHECK(first.windows->is_open());
  first.trigger(2000, TriggerKind::synchronised);
  CHECK(first.all() == std::vector<Interval>{{0, 2000}});

  // Cycles that follow each other at once touch and do not overlap.
  Recorded each(steps_of("graph", 0, 0, 1, 0));
  for (int i = 0; i < 4; ++i) each.trigger(2000 + i * 100, TriggerKind::graph_launch);
  CHECK(each.all() ==
        std::vector<Interval>{{2000, 2100}, {2100, 2200}, {2200, 2300}, {2300, kOpen}});
}

TEST_CASE("the profiler's calls") {
  Options options;
  options.profiler_api = true;
  Recorded recorded(options);
  CHECK(recorded.windows->watches_profiler_api());
  recorded.trigger(2000, TriggerKind::profiler_stop);  // before any start
  recorded.trigger(2100, TriggerKind::profiler_start);
  recorded.trigger(2150, TriggerKind::profiler_start);  // twice
  recorded.trigger(2200, TriggerKind::profiler_stop);
  recorded.trigger(2300, TriggerKind::profiler_stop);
  CHECK(recorded.all() == std::vector<Interval>{{2100, 2200}});
}

TEST_CASE("commands: an ordinary recording is paused and goes on") {
  Recorded recorded{Options{}};
  recorded.windows->want(true, 2000, "control");  // it is
  CHECK_FALSE(recorded.windows->is_on());
  recorded.windows->want(false, 3000, "control");
  CHECK(recorded.windows->is_on());
  recorded.windows->want(false, 3500, "control");
  recorded.windows->want(true, 4000, "control");
  CHECK(recorded.all() == std::vector<Interval>{{0, 3000}, {4000, kOpen}});
  CHECK(recorded.reasons().front() == "start");
}

TEST_CASE("commands: whoever has spoken, ranges and time open nothing any more") {
  Options options = ranges_of("r");
  options.paused = true;
  Recorded paused(options);
  paused.range(2000, 1, true);
  CHECK(paused.all().empty());
  paused.windows->want(true, 2010, "control");
  paused.range(2090, 1, false);
  CHECK(paused.windows->is_open());
  paused.windows->want(false, 3000, "control");
  paused.range(3100, 2, true);
  CHECK(paused.all() == std::vector<Interval>{{2010, 3000}});

  Options timed;
  timed.duration_ns = 200;
  timed.paused = true;
  Recorded each(timed);
  each.windows->advance(kStart + 5000);
  CHECK(each.all().empty());
  // Of each window that somebody else opens it is the length.
  each.windows->want(true, 10'000, "control");
  each.windows->advance(10'500);
  each.windows->want(true, 20'000, "control");
  each.windows->advance(20'100);
  CHECK(each.all() == std::vector<Interval>{{10'000, 10'200}, {20'000, kOpen}});
}

TEST_CASE("what is recorded changes: a window ends and another begins") {
  Recorded all_along{Options{}};
  all_along.windows->split(3000, "budget");
  CHECK(all_along.windows->is_on());
  CHECK(all_along.all() == std::vector<Interval>{{0, 3000}, {3000, kOpen}});

  Options options = ranges_of("r");
  options.duration_ns = 500;
  Recorded recorded(options);
  recorded.windows->split(1500, "budget");  // none is open: nothing to end
  CHECK(recorded.all().empty());
  recorded.range(2000, 1, true);
  recorded.windows->split(2100, "budget");
  recorded.windows->advance(2600);  // the end that the first had
  recorded.range(3000, 1, false);
  CHECK(recorded.all() == std::vector<Interval>{{2000, 2100}, {2100, 2500}});
  // The range still decides.
  recorded.range(4000, 2, true);
  recorded.windows->split(4100, "budget");
  recorded.range(4200, 2, false);
  CHECK(recorded.all() ==
        std::vector<Interval>{{2000, 2100}, {2100, 2500}, {4000, 4100}, {4100, 4200}});
}

TEST_CASE("windows never overlap, whatever times they are told") {
  Recorded recorded{Options{}};
  recorded.windows->want(false, 3000, "control");
  recorded.windows->want(true, 2500, "control");  // a clock that went back
  recorded.windows->want(false, 2600, "control");
  recorded.windows->want(true, 3100, "control");
  CHECK(recorded.all() == std::vector<Interval>{{0, 3000}, {3000, 3000}, {3100, kOpen}});
}

TEST_CASE("what is in a window") {
  Recorded recorded(ranges_of("r"));
  CHECK_FALSE(recorded.windows->meets(0, kOpen));
  CHECK_FALSE(recorded.windows->keeps_timeless());
  recorded.range(2000, 1, true);
  recorded.range(2100, 1, false);
  recorded.range(2500, 2, true);
  const Windows& windows = *recorded.windows;
  CHECK(windows.meets(2050, 2050));
  CHECK(windows.meets(2000, 2000));
  CHECK(windows.meets(1000, 2000));
  CHECK(windows.meets(1000, 9000));
  CHECK_FALSE(windows.meets(1000, 1999));
  CHECK_FALSE(windows.meets(2100, 2499));
  CHECK(windows.meets(2100, 2500));
  CHECK(windows.meets(9000, 9000));
  // GPU work may have been launched in the first.
  CHECK(windows.keeps_work(2300));
  CHECK_FALSE(windows.keeps_work(1999));
}

TEST_CASE("a window settles when its work has come back, in order, and is forgotten then") {
  Recorded recorded(ranges_of("r"));
  recorded.range(2000, 1, true);
  CHECK(recorded.windows->is_settled());  // one that is open does not wait for anything
  recorded.range(2100, 1, false);
  CHECK_FALSE(recorded.windows->is_settled());
  recorded.range(2200, 2, true);
  recorded.range(2300, 2, false);
  int started = 0;
  const auto start = [&](Window&) { ++started; };
  recorded.windows->settle(start, [](const Window& window) { return window.index == 1; });
  CHECK(started == 2);
  CHECK(recorded.windows->completed() == 0);  // the second waits for the first
  recorded.windows->settle(start, [](const Window& window) { return window.index == 0; });
  CHECK(started == 2);
  CHECK(recorded.windows->completed() == 1);
  recorded.tell();
  CHECK_FALSE(recorded.windows->meets(2050, 2050));
  CHECK(recorded.windows->meets(2250, 2250));
  recorded.windows->settle(start, [](const Window&) { return true; });
  recorded.tell();
  CHECK(recorded.windows->is_settled());
  CHECK(recorded.windows->completed() == 2);
  CHECK(recorded.windows->opened() == 2);
  CHECK(recorded.windows->last_start_ns() == 2200);
  CHECK(recorded.windows->last_end_ns() == 2300);
  CHECK_FALSE(recorded.windows->keeps_timeless());
}

TEST_CASE("more windows than fit: nothing is lost, what lies between the last is kept too") {
  constexpr std::uint64_t kMany = 5000;
  Recorded recorded(ranges_of("r"));
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const auto time = static_cast<std::int64_t>(10'000 + i * 10);
    recorded.range(time, i + 1, true);
    recorded.range(time + 5, i + 1, false);
  }
  const std::vector<Interval> told = recorded.all();
  CHECK(told.size() < kMany);
  for (std::uint64_t i = 0; i < kMany; ++i) {
    const auto time = static_cast<std::int64_t>(10'000 + i * 10);
    REQUIRE(recorded.windows->meets(time + 2, time + 3));
  }
  CHECK(told.back().second == static_cast<std::int64_t>(10'000 + (kMany - 1) * 10 + 5));
  recorded.settle();
  CHECK(recorded.windows->is_settled());
}

TEST_CASE("random triggers: windows are the union of the ranges, sorted and disjoint") {
  std::mt19937_64 random(42);
  for (int round = 0; round < 200; ++round) {
    Recorded recorded(ranges_of("r"));
    std::vector<std::uint64_t> open;
    std::vector<Interval> wanted;
    std::int64_t time = 2000;
    std::uint64_t next = 1;
    for (int event = 0; event < 60; ++event) {
      time += 1 + static_cast<std::int64_t>(random() % 20);
      if (open.empty() || (open.size() < 5 && random() % 2 == 0)) {
        if (open.empty()) wanted.push_back({time, kOpen});
        open.push_back(next);
        recorded.range(time, next++, true);
      } else {
        const std::size_t which = random() % open.size();
        recorded.range(time, open[which], false);
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        if (open.empty()) wanted.back().second = time;
      }
      if (random() % 4 == 0) recorded.tell();
    }
    REQUIRE(recorded.all() == wanted);
  }
}
