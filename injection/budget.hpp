// Keeps the accounted cost of a recording within its budget (--overhead-budget).
//
// It gives up, one after the other and for good: call stacks, memory events, and then recording
// without a break. From then on it records in windows: the budget is an income of nanoseconds, what
// recording costs is paid from it, and a window opens when enough is saved for all of it. So the
// cost approaches the budget from below, whatever it is made of, and nothing swings but the windows
// themselves. A step is only taken after a whole interval has cost too much, and never taken back:
// what was given up would have to be enabled again in mid-run, which takes CUPTI seconds.
//
// Pure arithmetic on what it is told, so that it can be tested on models of cost.
#pragma once

#include <cstdint>

namespace gprofml::injection {

enum class BudgetStep : std::uint32_t {
  everything = 0,
  no_stacks = 1,
  no_memory_events = 2,
  windows = 3,
};

class Budget {
 public:
  /// What is judged at once, and the shortest window.
  static constexpr std::int64_t kIntervalNs = 1'000'000'000;
  /// Savings and debts beyond what so long a time brings in are forgotten: a quiet hour must not
  /// pay for a costly minute, and a costly start must not end the recording.
  static constexpr std::int64_t kMemoryNs = 10 * kIntervalNs;

  /// `ppm`: parts of a million of wall time; 0: no budget, nothing is ever given up.
  /// `has_stacks`, `has_memory_events`: whether there is such a thing to give up.
  Budget(std::uint32_t ppm, bool has_stacks, bool has_memory_events)
      : ppm_(ppm), has_stacks_(has_stacks), has_memory_events_(has_memory_events) {}

  /// `wall_ns` went by since the last call and recording cost `cost_ns` of it. Returns whether
  /// anything changed: `step()` or `records()`.
  bool account(std::int64_t wall_ns, std::int64_t cost_ns);

  BudgetStep step() const { return step_; }
  /// Whether events are to be recorded now.
  bool records() const { return records_; }
  /// Between windows, too, it costs more than the budget: there is nothing left to give up.
  bool cannot_be_held() const { return cannot_be_held_; }

 private:
  bool judge_interval();
  bool next_step();

  std::uint32_t ppm_;
  bool has_stacks_;
  bool has_memory_events_;
  BudgetStep step_ = BudgetStep::everything;
  bool records_ = true;
  bool cannot_be_held_ = false;
  std::int64_t saved_ns_ = 0;          ///< income less cost
  std::int64_t interval_wall_ns_ = 0;  ///< since the last judgement or change
  std::int64_t interval_cost_ns_ = 0;
  std::int64_t window_wall_ns_ = 0;  ///< of the window that is open
  std::int64_t window_cost_ns_ = 0;
  std::int64_t window_price_ns_ = 0;  ///< what an interval of recording cost last
};

}  // namespace gprofml::injection
