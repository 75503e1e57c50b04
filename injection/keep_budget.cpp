#include "injection/keep_budget.hpp"

#include "injection/budget.hpp"
#include "injection/cost.hpp"
#include "injection/cupti_session.hpp"
#include "injection/recorder.hpp"

namespace gprofml::injection {
namespace {

/// One writer thread a process; a forked child's recording begins with a new recorder.
struct Keeping {
  const Recorder* by = nullptr;
  std::int64_t at_ns = 0;
  std::uint64_t cost_ns = 0;
  bool said_it_cannot_be_held = false;
  Budget budget{0, false, false};
};
Keeping keeping;

void start_over(const Recorder& recorder) {
  keeping = Keeping{};
  keeping.by = &recorder;
  keeping.at_ns = recorder.started_ns;
  const Options& options = recorder.options;
  keeping.budget = Budget(options.budget_ppm, options.records(spool::kStacks),
                          options.records(spool::kMemory | spool::kPools | spool::kUnifiedMemory));
}

void say(Recorder& recorder, const char* kind, const char* detail) {
  const auto share = static_cast<std::int64_t>(recorder.options.budget_ppm);
  recorder.stream.capture_event(kind, detail, now_ns(), share);
}

void give_up_stacks(Recorder& recorder, CuptiSession* session) {
  if (session != nullptr) session->takes_stacks.store(false, std::memory_order_relaxed);
  say(recorder, "stacks_given_up",
      "call stacks cost more than --overhead-budget allows (parts per million in `value`)");
}

void give_up_memory_events(Recorder& recorder, CuptiSession* session) {
  if (session != nullptr) session->gives_up_memory.store(true, std::memory_order_relaxed);
  say(recorder, "memory_events_given_up",
      "memory events cost more than --overhead-budget allows (parts per million in `value`)");
}

/// Windows that were asked for are not ours to open and close: what the options say, and what a
/// user types while it runs, goes before the budget.
void record_in_windows(Recorder& recorder) {
  if (recorder.options.has_windows() || recorder.window_pass.is_commanded()) {
    if (keeping.said_it_cannot_be_held) return;
    keeping.said_it_cannot_be_held = true;
    say(recorder, "budget_not_held",
        "recording costs more than --overhead-budget allows (parts per million in `value`), and "
        "the windows that were asked for are recorded all the same");
    return;
  }
  const bool records = keeping.budget.records();
  recorder.window_pass.windows.want(records, now_ns(), "budget");
  say(recorder, records ? "budget_window_opened" : "budget_window_closed",
      records ? "enough is saved for a window"
              : "the budget (--overhead-budget, parts per million in `value`) is spent");
}

void act(Recorder& recorder, BudgetStep before) {
  CuptiSession* session = recorder.session.load(std::memory_order_acquire);
  const BudgetStep step = keeping.budget.step();
  if (step == BudgetStep::windows) return record_in_windows(recorder);
  if (step == before) return;
  if (step == BudgetStep::no_stacks) give_up_stacks(recorder, session);
  if (step == BudgetStep::no_memory_events) give_up_memory_events(recorder, session);
  // What was recorded before and what follows are not to be analysed as one.
  recorder.window_pass.windows.split(now_ns(), "budget");
}

}  // namespace

void keep_budget(Recorder& recorder) {
  if (recorder.options.budget_ppm == 0) return;
  if (keeping.by != &recorder) start_over(recorder);
  if (!cupti_is_on_the_systems_clock()) {
    if (keeping.said_it_cannot_be_held) return;
    keeping.said_it_cannot_be_held = true;
    return say(recorder, "budget_not_held",
               "the simulated clock is not the system's: cost and windows do not compare");
  }
  const std::int64_t now = monotonic_ns();
  const std::uint64_t cost = accounted_ns(recorder);
  const BudgetStep before = keeping.budget.step();
  const bool changed = keeping.budget.account(now - keeping.at_ns,
                                              static_cast<std::int64_t>(cost - keeping.cost_ns));
  keeping.at_ns = now;
  keeping.cost_ns = cost;
  if (changed) act(recorder, before);
  if (keeping.budget.cannot_be_held() && !keeping.said_it_cannot_be_held) {
    keeping.said_it_cannot_be_held = true;
    say(recorder, "budget_not_held",
        "between windows, too, the recorder costs more than --overhead-budget allows (parts per "
        "million in `value`)");
  }
}

}  // namespace gprofml::injection
