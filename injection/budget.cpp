#include "injection/budget.hpp"

namespace gprofml::injection {
namespace {

std::int64_t clamp(std::int64_t value, std::int64_t limit) {
  return value > limit ? limit : value < -limit ? -limit : value;
}

/// Without the overflow of a product of nanoseconds and parts per million.
std::int64_t share(std::int64_t ns, std::uint32_t ppm) {
  return ns / 1'000'000 * ppm + ns % 1'000'000 * ppm / 1'000'000;
}

}  // namespace

bool Budget::next_step() {
  if (step_ == BudgetStep::everything && has_stacks_) {
    step_ = BudgetStep::no_stacks;
  } else if (step_ <= BudgetStep::no_stacks && has_memory_events_) {
    step_ = BudgetStep::no_memory_events;
  } else {
    step_ = BudgetStep::windows;
    records_ = false;
    window_price_ns_ = interval_cost_ns_ * (kIntervalNs / 1000) / (interval_wall_ns_ / 1000 + 1);
  }
  return true;
}

/// One interval of recording without a break is over.
bool Budget::judge_interval() {
  const bool too_much = interval_cost_ns_ > share(interval_wall_ns_, ppm_) && saved_ns_ < 0;
  const bool changed = too_much && next_step();
  interval_wall_ns_ = interval_cost_ns_ = 0;
  return changed;
}

bool Budget::account(std::int64_t wall_ns, std::int64_t cost_ns) {
  if (ppm_ == 0 || wall_ns <= 0) return false;
  saved_ns_ = clamp(saved_ns_ + share(wall_ns, ppm_) - cost_ns, share(kMemoryNs, ppm_));
  interval_wall_ns_ += wall_ns;
  interval_cost_ns_ += cost_ns;
  if (step_ != BudgetStep::windows) {
    return interval_wall_ns_ >= kIntervalNs && judge_interval();
  }
  if (records_) {
    window_wall_ns_ += wall_ns;
    window_cost_ns_ += cost_ns;
    if (window_wall_ns_ < kIntervalNs || saved_ns_ > 0) return false;
    window_price_ns_ = window_cost_ns_ * (kIntervalNs / 1000) / (window_wall_ns_ / 1000);
    records_ = false;
    interval_wall_ns_ = interval_cost_ns_ = 0;
    return true;
  }
  if (interval_wall_ns_ >= kMemoryNs) {
    cannot_be_held_ = interval_cost_ns_ > share(interval_wall_ns_, ppm_);
    interval_wall_ns_ = interval_cost_ns_ = 0;
  }
  const std::int64_t price = clamp(window_price_ns_, share(kMemoryNs, ppm_));
  if (saved_ns_ < price) return false;
  records_ = true;
  window_wall_ns_ = window_cost_ns_ = 0;
  return true;
}

}  // namespace gprofml::injection
