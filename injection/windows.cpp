#include "injection/windows.hpp"

#include <cstdio>
#include <cstring>

namespace gprofml::injection {
namespace {

constexpr char kByTime[] = "time";
constexpr char kFromStart[] = "start";
constexpr char kProfilerApi[] = "profiler api";

}  // namespace

void Windows::start(const Options& options, std::int64_t start_ns) {
  // The memory is zeroed, and most of it is never touched.
  options_ = &options;
  start_ns_ = start_ns;
  is_on_ = options.has_windows();
  not_before_ns_ = options.delay_ns > 0 ? start_ns + options.delay_ns : INT64_MIN;
  latest_end_ns_ = INT64_MIN;
  profiler_api_ = options.profiler_api;
  if (options.steps_active > 0) {
    step_ = std::strcmp(options.step, "graph") == 0  ? Step::graph
            : std::strcmp(options.step, "sync") == 0 ? Step::sync
                                                     : Step::range;
  }
  if (step_ == Step::range) {
    watched_range_ = options.step;
  } else if (options.range[0] != '\0') {
    watched_range_ = options.range;
  }
  std::snprintf(reason_, sizeof reason_, "%s %s", step_ == Step::none ? "range" : "steps",
                step_ == Step::none ? options.range : options.step);
  by_time_ = watched_range_ == nullptr && step_ == Step::none && !profiler_api_ && !options.paused;
  if (step_ == Step::sync && is_first_active(0) && obeys_triggers(0)) open(0, reason_);
}

bool Windows::obeys_triggers(std::int64_t time_ns) const {
  return !is_forced_ && !options_->paused && time_ns >= not_before_ns_;
}

void Windows::trigger(const Trigger& trigger) {
  advance(trigger.time_ns);
  switch (trigger.kind) {
    case TriggerKind::range_begins:
    case TriggerKind::range_ends:
      return step_ == Step::range ? on_step(trigger) : on_range(trigger);
    case TriggerKind::graph_launch:
    case TriggerKind::synchronised:
      return on_step(trigger);
    case TriggerKind::profiler_start:
      if (obeys_triggers(trigger.time_ns)) open(trigger.time_ns, kProfilerApi);
      return;
    case TriggerKind::profiler_stop:
      if (!is_forced_) close(trigger.time_ns);
      return;
  }
}

void Windows::on_range(const Trigger& trigger) {
  if (trigger.kind == TriggerKind::range_begins) {
    if (trigger.time_ns < not_before_ns_) return;
    const auto occurrence = static_cast<std::int64_t>(occurrences_++);
    const bool wanted =
        options_->range_index == Options::kAnyIndex || options_->range_index == occurrence;
    if (!wanted || selected_count_ == kMostSelected) return;
    selected_[selected_count_++] = trigger.id;
    if (selected_count_ == 1 && obeys_triggers(trigger.time_ns)) open(trigger.time_ns, reason_);
    return;
  }
  for (std::uint32_t i = 0; i < selected_count_; ++i) {
    if (selected_[i] != trigger.id) continue;
    selected_[i] = selected_[--selected_count_];
    if (selected_count_ == 0 && !is_forced_) close(trigger.time_ns);
    return;
  }
}

bool Windows::is_active(std::uint64_t step) const {
  const std::uint64_t before = std::uint64_t{options_->steps_wait} + options_->steps_warmup;
  const std::uint64_t cycle = before + options_->steps_active;
  const bool repeats = options_->steps_repeat == 0 || step / cycle < options_->steps_repeat;
  return repeats && step % cycle >= before;
}

bool Windows::is_first_active(std::uint64_t step) const {
  const std::uint64_t before = std::uint64_t{options_->steps_wait} + options_->steps_warmup;
  return is_active(step) && step % (before + options_->steps_active) == before;
}

bool Windows::is_last_active(std::uint64_t step) const {
  const std::uint64_t cycle =
      std::uint64_t{options_->steps_wait} + options_->steps_warmup + options_->steps_active;
  return is_active(step) && step % cycle == cycle - 1;
}

void Windows::on_step(const Trigger& trigger) {
  const bool obeys = obeys_triggers(trigger.time_ns);
  if (trigger.time_ns < not_before_ns_) return;
  switch (trigger.kind) {
    case TriggerKind::range_begins: {
      const std::uint64_t step = occurrences_++;
      if (is_last_active(step)) last_active_ = trigger.id;
      if (is_first_active(step) && obeys) open(trigger.time_ns, reason_);
      return;
    }
    case TriggerKind::range_ends:
      if (trigger.id != last_active_ || last_active_ == 0) return;
      last_active_ = 0;
      if (!is_forced_) close(trigger.time_ns);
      return;
    case TriggerKind::graph_launch: {  // begins a step and ends the one before
      const std::uint64_t step = occurrences_++;
      if (step > 0 && is_last_active(step - 1) && !is_forced_) close(trigger.time_ns);
      if (is_first_active(step) && obeys) open(trigger.time_ns, reason_);
      return;
    }
    default: {  // ends a step, and the next begins
      const std::uint64_t step = occurrences_++;
      if (is_last_active(step) && !is_forced_) close(trigger.time_ns);
      if (is_first_active(step + 1) && obeys) open(trigger.time_ns, reason_);
    }
  }
}

void Windows::advance(std::int64_t now_ns) {
  if (!is_on_) return;
  if (by_time_ && !is_spent_ && !is_forced_ && !is_open() && now_ns >= not_before_ns_) {
    open(options_->delay_ns > 0 ? not_before_ns_ : 0, kByTime);
    is_spent_ = options_->duration_ns > 0;
  }
  if (!is_open()) return;
  const std::int64_t planned_ns = at(count_ - 1).planned_end_ns;
  if (planned_ns != 0 && now_ns >= planned_ns) close(planned_ns);
}

void Windows::want(bool recording, std::int64_t time_ns, const char* reason) {
  if (!is_on_) {
    if (recording) return;  // it is
    is_on_ = true;
    open(0, kFromStart);
  }
  is_forced_ = true;
  if (recording) {
    open(time_ns, reason);
  } else {
    close(time_ns);
  }
}

void Windows::split(std::int64_t time_ns, const char* reason) {
  if (!is_on_) {
    is_on_ = true;
    open(0, kFromStart);
  }
  if (!is_open()) return;
  const std::int64_t planned_end_ns = at(count_ - 1).planned_end_ns;
  close(time_ns);
  open(time_ns, reason);
  at(count_ - 1).planned_end_ns = planned_end_ns;
}

void Windows::open(std::int64_t time_ns, const char* reason) {
  if (is_open()) return;
  if (time_ns < latest_end_ns_) time_ns = latest_end_ns_;
  has_news_ = true;
  has_opened_ = true;
  latest_end_ns_ = kOpen;
  if (count_ == kMost) {  // nothing settles: what lies between this one and the last is kept too
    Window& last = at(count_ - 1);
    last.end_ns = kOpen;
    last.is_settling = false;
    last.is_said = false;
    return;
  }
  Window& window = at(count_++);
  window = Window{};
  window.start_ns = time_ns;
  window.end_ns = kOpen;
  if (options_->duration_ns > 0) {
    window.planned_end_ns = (time_ns == 0 ? start_ns_ : time_ns) + options_->duration_ns;
  }
  window.index = next_index_++;
  window.reason = reason;
}

void Windows::close(std::int64_t time_ns) {
  if (!is_open()) return;
  Window& window = at(count_ - 1);
  window.end_ns = time_ns < window.start_ns ? window.start_ns : time_ns;
  window.is_said = false;
  has_news_ = true;
  latest_end_ns_ = window.end_ns;
}

void Windows::complete(Window& window) {
  if (window.is_complete) return;
  window.is_complete = true;
  window.is_said = false;
  has_news_ = true;
  ++completed_;
  last_start_ns_ = window.start_ns;
  last_end_ns_ = window.end_ns;
}

bool Windows::meets(std::int64_t start_ns, std::int64_t end_ns) const {
  // The last window that begins before the end reaches farthest of all that do.
  std::uint32_t low = 0;
  std::uint32_t high = count_;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (at(middle).start_ns <= end_ns) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && start_ns < at(low - 1).end_ns;
}

bool Windows::take_opening() {
  const bool opened = has_opened_;
  has_opened_ = false;
  return opened;
}

}  // namespace gprofml::injection
