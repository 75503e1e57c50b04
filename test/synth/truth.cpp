#include "test/synth/truth.hpp"

#include <algorithm>
#include <set>

namespace gprofml::synth {
namespace {

// Which kinds of work run on a device at one instant.
struct Running {
  bool compute = false;
  bool communication = false;
  bool memory = false;
};

Running running_at(const Execution& execution, int device, Nanoseconds time_ns) {
  Running running;
  for (const Activity& activity : execution.activities) {
    if (activity.on.device != device) continue;
    if (time_ns < activity.start_ns || time_ns >= activity.end_ns) continue;
    switch (activity.work.kind) {
      case WorkKind::kernel:
        running.compute = true;
        break;
      case WorkKind::communication:
        running.communication = true;
        break;
      case WorkKind::copy:
      case WorkKind::fill:
        running.memory = true;
        break;
    }
  }
  return running;
}

void count(DeviceTruth& truth, const Activity& activity) {
  const Nanoseconds duration_ns = activity.end_ns - activity.start_ns;
  switch (activity.work.kind) {
    case WorkKind::kernel:
    case WorkKind::communication:
      ++truth.kernels;
      truth.kernel_ns += duration_ns;
      break;
    case WorkKind::copy:
      ++truth.copies;
      truth.copy_ns += duration_ns;
      break;
    case WorkKind::fill:
      ++truth.fills;
      truth.fill_ns += duration_ns;
      break;
  }
}

void count(DeviceTruth& truth, const Running& running, Nanoseconds length_ns) {
  const bool kernel = running.compute || running.communication;
  if (kernel || running.memory) truth.busy_ns += length_ns;
  if (!kernel && !running.memory) truth.idle_ns += length_ns;
  if (kernel) truth.kernel_union_ns += length_ns;
  if (running.memory) truth.memory_union_ns += length_ns;
  if (running.communication) truth.communication_union_ns += length_ns;
  if (running.communication && !running.compute) truth.communication_exposed_ns += length_ns;
  if (running.memory && !kernel) truth.copy_exposed_ns += length_ns;
}

// Follows the reasons of the simulation backwards from the end.
class ChainWalk {
 public:
  explicit ChainWalk(const Execution& execution) : execution_(execution) {}

  std::vector<ChainSegment> walk() {
    start_at_sink();
    while (activity_ != kNone || step_ != kNone) {
      if (activity_ != kNone) {
        at_activity();
      } else {
        at_end_of_step();
      }
    }
    emit(ChainWhat::thread_start, kNone, execution_.program.begin_ns);
    std::reverse(chain_.begin(), chain_.end());
    return chain_;
  }

 private:
  void start_at_sink() {
    for (std::size_t i = 0; i < execution_.activities.size(); ++i) {
      if (activity_ == kNone || execution_.activities[i].end_ns > now_) {
        activity_ = i;
        now_ = execution_.activities[i].end_ns;
      }
    }
    for (std::size_t i = 0; i < execution_.steps.size(); ++i) {
      const HostStep& step = execution_.steps[i];
      if (step.call == kNone || (step_of_sink_known() && step.end_ns <= now_)) continue;
      activity_ = kNone;
      step_ = i;
      now_ = step.end_ns;
    }
  }

  bool step_of_sink_known() const { return activity_ != kNone || step_ != kNone; }

  void at_activity() {
    const Activity& activity = execution_.activities[activity_];
    emit(kind_of(activity.work.kind), activity_, activity.start_ns);
    if (activity.started_by == StartedBy::launch) {
      const Call& call = execution_.calls[activity.call];
      emit(ChainWhat::launch, activity_, call.start_ns);
      step_ = step_before_call(activity.call);
      activity_ = kNone;
    } else {
      emit(gap_of(activity.started_by), activity_, execution_.activities[activity.after].end_ns);
      activity_ = activity.after;
    }
  }

  void at_end_of_step() {
    const HostStep& step = execution_.steps[step_];
    if (step.waited != kNone) {
      activity_ = step.waited;
      emit(ChainWhat::sync_return, step_, execution_.activities[activity_].end_ns);
      step_ = kNone;
    } else if (step.woken_by != kNone) {
      emit(ChainWhat::wake, step_, execution_.steps[step.woken_by].end_ns);
      step_ = step.woken_by;
    } else {
      emit(step.call == kNone ? ChainWhat::host_work : ChainWhat::call, step_, step.start_ns);
      step_ = step.previous;
    }
  }

  std::size_t step_before_call(std::size_t call) const {
    for (const HostStep& step : execution_.steps) {
      if (step.call == call) return step.previous;
    }
    return kNone;
  }

  void emit(ChainWhat what, std::size_t subject, Nanoseconds from_ns) {
    if (from_ns < now_) chain_.push_back({what, subject, from_ns, now_});
    now_ = from_ns;
  }

  static ChainWhat kind_of(WorkKind kind) {
    switch (kind) {
      case WorkKind::kernel:
        return ChainWhat::kernel;
      case WorkKind::communication:
        return ChainWhat::communication;
      case WorkKind::copy:
        return ChainWhat::copy;
      case WorkKind::fill:
        break;
    }
    return ChainWhat::fill;
  }

  static ChainWhat gap_of(StartedBy why) {
    if (why == StartedBy::event_wait) return ChainWhat::event_gap;
    return why == StartedBy::graph_edge ? ChainWhat::graph_gap : ChainWhat::stream_gap;
  }

  const Execution& execution_;
  std::vector<ChainSegment> chain_;
  std::size_t activity_ = kNone;
  std::size_t step_ = kNone;  // the walk stands at its end
  Nanoseconds now_ = 0;
};

// The largest value in [0, limit] for which `holds`, which holds for 0 and for all up to the
// result.
template <typename Predicate>
Nanoseconds largest(Nanoseconds limit, Predicate holds) {
  Nanoseconds low = 0;
  Nanoseconds high = limit + 1;
  while (high - low > 1) {
    const Nanoseconds middle = low + (high - low) / 2;
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

Nanoseconds end_with_change(const Program& program, std::size_t work, Nanoseconds change_ns) {
  const Nanoseconds duration_ns = work_at(program, work).duration_ns + change_ns;
  return last_work_end_ns(run(with_work_duration(program, work, duration_ns)));
}

}  // namespace

std::map<int, DeviceTruth> device_truth(const Execution& execution) {
  std::map<int, DeviceTruth> truths;
  std::map<int, std::set<Nanoseconds>> times;
  for (const Activity& activity : execution.activities) {
    count(truths[activity.on.device], activity);
    times[activity.on.device].insert({activity.start_ns, activity.end_ns});
  }
  for (auto& [device, truth] : truths) {
    const std::vector<Nanoseconds> points(times[device].begin(), times[device].end());
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      count(truth, running_at(execution, device, points[i]), points[i + 1] - points[i]);
    }
    truth.span_ns = points.back() - points.front();
  }
  return truths;
}

CallTruth call_truth(const Execution& execution) {
  CallTruth truth;
  truth.calls = static_cast<std::int64_t>(execution.calls.size());
  for (const Call& call : execution.calls) truth.submissions += call.submits ? 1 : 0;
  truth.linked = static_cast<std::int64_t>(execution.activities.size());
  return truth;
}

Interval recorded_window(const Execution& execution) {
  std::set<Nanoseconds> times;
  for (const Activity& activity : execution.activities) {
    times.insert({activity.start_ns, activity.end_ns});
  }
  for (const Call& call : execution.calls) times.insert({call.start_ns, call.end_ns});
  for (const RangeRun& range : execution.ranges) {
    if (range.kind == profile::RangeKind::op) times.insert({range.start_ns, range.end_ns});
  }
  if (times.empty()) return {};
  return {*times.begin(), *times.rbegin()};
}

Nanoseconds last_work_end_ns(const Execution& execution) {
  Nanoseconds last = execution.program.begin_ns;
  for (const Activity& activity : execution.activities) last = std::max(last, activity.end_ns);
  for (const Call& call : execution.calls) last = std::max(last, call.end_ns);
  return last;
}

std::vector<ChainSegment> critical_chain(const Execution& execution) {
  return ChainWalk(execution).walk();
}

Nanoseconds slack_ns(const Program& program, std::size_t work) {
  const Execution before = run(program);
  const Nanoseconds sink_ns = last_work_end_ns(before);
  // An activity that grows beyond the sink is the sink.
  Nanoseconds room_ns = 0;
  for (const Activity& activity : before.activities) {
    if (activity.number == work) room_ns = sink_ns - activity.end_ns;
  }
  return largest(room_ns, [&](Nanoseconds growth_ns) {
    return end_with_change(program, work, growth_ns) == sink_ns;
  });
}

Nanoseconds competing_slack_ns(const Program& program, std::size_t work) {
  const Nanoseconds sink_ns = last_work_end_ns(run(program));
  return largest(work_at(program, work).duration_ns, [&](Nanoseconds shrink_ns) {
    return end_with_change(program, work, -shrink_ns) == sink_ns - shrink_ns;
  });
}

}  // namespace gprofml::synth
