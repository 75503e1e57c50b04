// The controller of --overhead-budget on models of what recording costs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "injection/budget.hpp"

using gprofml::injection::Budget;
using gprofml::injection::BudgetStep;

namespace {

constexpr std::int64_t kTickNs = 100'000'000;  // the writer's period
constexpr std::uint32_t kBudgetPpm = 30'000;   // 3 %

/// Shares of wall time that recording costs in a tick, in ppm.
struct Cost {
  double stacks = 0;  ///< while stacks are taken
  double memory = 0;  ///< while memory events are recorded
  double events = 0;  ///< while anything is recorded
  double always = 0;  ///< between windows too
};
using Model = std::function<Cost(double seconds)>;

struct Outcome {
  double share_ppm = 0;  ///< of the time after the first 20 s
  std::vector<double> each_minute_ppm;
  std::vector<std::int64_t> windows_ns;  ///< lengths of the closed ones
  std::vector<BudgetStep> steps;
  bool cannot_be_held = false;
};

Outcome run(const Model& model, double seconds, bool has_stacks = true, bool has_memory = true,
            std::uint32_t budget_ppm = kBudgetPpm) {
  Budget budget(budget_ppm, has_stacks, has_memory);
  Outcome outcome;
  outcome.steps.push_back(budget.step());
  double settled_cost = 0, settled_wall = 0, minute_cost = 0;
  std::int64_t window_ns = 0;
  const auto ticks = static_cast<std::int64_t>(seconds * 1e9) / kTickNs;
  for (std::int64_t tick = 0; tick < ticks; ++tick) {
    const double now = static_cast<double>(tick * kTickNs) / 1e9;
    const Cost cost = model(now);
    double ppm = cost.always;
    if (budget.records()) ppm += cost.events;
    if (budget.step() < BudgetStep::no_memory_events && has_memory) ppm += cost.memory;
    if (budget.step() < BudgetStep::no_stacks && has_stacks) ppm += cost.stacks;
    const auto cost_ns = static_cast<std::int64_t>(ppm * static_cast<double>(kTickNs) / 1e6);
    const bool was_open = budget.records();
    window_ns += was_open ? kTickNs : 0;
    budget.account(kTickNs, cost_ns);
    if (was_open && !budget.records()) {
      outcome.windows_ns.push_back(window_ns);
      window_ns = 0;
    }
    if (budget.step() != outcome.steps.back()) outcome.steps.push_back(budget.step());
    if (now >= 20) {
      settled_cost += ppm;
      settled_wall += 1;
      minute_cost += ppm;
      if (std::fmod(now - 20 + 1e-9, 60) > 60 - 0.15) {
        outcome.each_minute_ppm.push_back(minute_cost / 600);
        minute_cost = 0;
      }
    }
  }
  outcome.share_ppm = settled_cost / settled_wall;
  outcome.cannot_be_held = budget.cannot_be_held();
  return outcome;
}

/// 3 % +- 1 point over the whole and in each minute, steps only downwards, no window shorter than
/// what it is for.
void check_held(const Outcome& outcome) {
  CHECK(outcome.share_ppm > 20'000);
  CHECK(outcome.share_ppm < 40'000);
  for (const double minute : outcome.each_minute_ppm) {
    CHECK(minute > 20'000);
    CHECK(minute < 40'000);
  }
  CHECK(std::is_sorted(outcome.steps.begin(), outcome.steps.end()));
  for (const std::int64_t window : outcome.windows_ns) CHECK(window >= Budget::kIntervalNs);
  CHECK_FALSE(outcome.cannot_be_held);
}

}  // namespace

TEST_CASE("a steady cost: stacks go, memory events go, then windows hold the budget") {
  const Outcome outcome = run([](double) { return Cost{50'000, 20'000, 80'000, 2'000}; }, 320);
  check_held(outcome);
  CHECK(outcome.steps == std::vector<BudgetStep>{BudgetStep::everything, BudgetStep::no_stacks,
                                                 BudgetStep::no_memory_events,
                                                 BudgetStep::windows});
  // Windows of a steady cost are alike: it does not swing.
  const auto [least, most] =
      std::minmax_element(outcome.windows_ns.begin() + 3, outcome.windows_ns.end());
  CHECK(*most <= *least + 2 * kTickNs);
}

TEST_CASE("a cost that comes in bursts") {
  const Outcome outcome = run(
      [](double seconds) {
        const bool busy = std::fmod(seconds, 7) < 2.5;
        return Cost{0, 0, busy ? 200'000.0 : 40'000.0, 1'000};
      },
      320, false, false);
  check_held(outcome);
  CHECK(outcome.steps.back() == BudgetStep::windows);
}

TEST_CASE("a cost that drifts and is noisy") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(1, 0.4);
  const Outcome outcome = run(
      [&](double seconds) {
        return Cost{0, 5'000 * std::max(0.0, noise(random)),
                    (40'000 + 500 * seconds) * std::max(0.0, noise(random)), 8'000};
      },
      320, false, true);
  check_held(outcome);
}

TEST_CASE("what fits the budget is left alone") {
  const Outcome outcome = run([](double) { return Cost{9'000, 9'000, 9'000, 1'000}; }, 120);
  CHECK(outcome.steps == std::vector<BudgetStep>{BudgetStep::everything});
  CHECK(outcome.windows_ns.empty());
  // One costly moment does not change it: the quiet before has paid for it.
  const Outcome spike = run(
      [](double seconds) {
        return Cost{0, 0, seconds > 50 && seconds < 50.9 ? 200'000.0 : 9'000.0, 0};
      },
      120);
  CHECK(spike.steps == std::vector<BudgetStep>{BudgetStep::everything});
}

TEST_CASE("giving up stacks may be enough") {
  const Outcome outcome = run([](double) { return Cost{60'000, 5'000, 15'000, 1'000}; }, 120);
  CHECK(outcome.steps == std::vector<BudgetStep>{BudgetStep::everything, BudgetStep::no_stacks});
  CHECK(outcome.share_ppm < 30'000);
}

TEST_CASE("without a budget nothing is given up, and a budget that cannot be held says so") {
  const Outcome free = run([](double) { return Cost{0, 0, 900'000, 0}; }, 60, true, true, 0);
  CHECK(free.steps == std::vector<BudgetStep>{BudgetStep::everything});
  const Outcome hopeless = run([](double) { return Cost{0, 0, 50'000, 60'000}; }, 120);
  CHECK(hopeless.steps.back() == BudgetStep::windows);
  CHECK(hopeless.cannot_be_held);
}
