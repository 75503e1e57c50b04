#include "test/synth/execution.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>

namespace gprofml::synth {
namespace {

// What new work of a stream has to wait for.
struct StreamState {
  std::vector<std::size_t> tail;     // the last work, or all nodes of the last graph launch
  std::vector<std::size_t> awaited;  // work of the events waited for since
};

struct EventState {
  std::vector<std::size_t> work;  // empty: nothing was before the record
  std::size_t record_call = kNone;
  StreamRef on;
};

struct ThreadState {
  std::size_t next_action = 0;
  Nanoseconds now = 0;
  std::size_t last_step = kNone;
  std::vector<std::size_t> open_ranges;
};

class Machine {
 public:
  explicit Machine(const Program& program) {
    execution_.program = program;
    std::size_t number = 0;
    for (const HostThread& thread : execution_.program.threads) {
      ThreadState state;
      state.now = program.begin_ns + thread.start_ns;
      threads_.push_back(state);
      first_work_.emplace_back();
      for (const Action& action : thread.actions) {
        first_work_.back().push_back(number);
        if (std::holds_alternative<Submit>(action)) ++number;
        if (const auto* graph = std::get_if<LaunchGraph>(&action)) number += graph->nodes.size();
      }
    }
  }

  Execution run() {
    while (const std::optional<std::size_t> thread = next_thread()) step(*thread);
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) check_finished(thread);
    return std::move(execution_);
  }

 private:
  const Timing& timing() const { return execution_.program.timing; }
  const std::vector<Action>& actions(std::size_t thread) const {
    return execution_.program.threads[thread].actions;
  }

  bool asleep(std::size_t thread) const {
    const auto* wait = std::get_if<WaitSignal>(&actions(thread)[threads_[thread].next_action]);
    return wait != nullptr && signals_.count(wait->flag) == 0;
  }

  std::optional<std::size_t> next_thread() const {
    std::optional<std::size_t> best;
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      if (threads_[thread].next_action == actions(thread).size() || asleep(thread)) continue;
      if (!best || threads_[thread].now < threads_[*best].now) best = thread;
    }
    return best;
  }

  void check_finished(std::size_t thread) const {
    const ThreadState& state = threads_[thread];
    if (state.next_action != actions(thread).size()) {
      throw std::invalid_argument(fmt::format(
          "thread {}: action {} waits for a signal that never comes", thread, state.next_action));
    }
    if (!state.open_ranges.empty()) {
      throw std::invalid_argument(
          fmt::format("thread {}: {} ranges are never closed", thread, state.open_ranges.size()));
    }
  }

  void step(std::size_t thread) {
    ThreadState& state = threads_[thread];
    HostStep step;
    step.thread = thread;
    step.action = state.next_action++;
    step.start_ns = step.end_ns = state.now;
    step.previous = state.last_step;
    if (!state.open_ranges.empty()) step.range = state.open_ranges.back();
    std::visit([&](const auto& action) { perform(action, step); }, actions(thread)[step.action]);
    state.now = step.end_ns;
    state.last_step = execution_.steps.size();
    execution_.steps.push_back(step);
  }

  std::size_t innermost_op(std::size_t thread) const {
    const std::vector<std::size_t>& open = threads_[thread].open_ranges;
    for (auto range = open.rbegin(); range != open.rend(); ++range) {
      if (execution_.ranges[*range].kind == profile::RangeKind::op) return *range;
    }
    return kNone;
  }

  // --- host only -------------------------------------------------------------------------------

  void perform(const HostWork& work, HostStep& step) { step.end_ns += work.duration_ns; }

  void perform(const BeginRange& begin, HostStep& step) {
    RangeRun range;
    range.kind = begin.kind;
    range.name = begin.name;
    range.thread = step.thread;
    range.start_ns = step.start_ns;
    range.parent = step.range;
    if (begin.kind != profile::RangeKind::python_function) range.external_id = ++last_external_id_;
    threads_[step.thread].open_ranges.push_back(execution_.ranges.size());
    execution_.ranges.push_back(range);
  }

  void perform(const EndRange&, HostStep& step) {
    std::vector<std::size_t>& open = threads_[step.thread].open_ranges;
    if (open.empty()) {
      throw std::invalid_argument(fmt::format(
          "thread {}: action {} closes a range that is not open", step.thread, step.action));
    }
    execution_.ranges[open.back()].end_ns = step.start_ns;
    open.pop_back();
  }

  void perform(const Signal& signal, HostStep&) {
    if (!signals_.emplace(signal.flag, execution_.steps.size()).second) {
      throw std::invalid_argument(fmt::format("flag {} is signalled twice", signal.flag));
    }
  }

  void perform(const WaitSignal& wait, HostStep& step) {
    const std::size_t signal = signals_.at(wait.flag);
    const Nanoseconds awake =
        execution_.steps[signal].end_ns + timing().wake_ns + wait.wake_delay_ns;
    if (awake > step.end_ns) {
      step.end_ns = awake;
      step.woken_by = signal;
    }
  }

  // --- calls -----------------------------------------------------------------------------------

  Call& begin_call(const std::string& name, Nanoseconds duration_ns, HostStep& step) {
    step.call = execution_.calls.size();
    step.end_ns = step.start_ns + duration_ns;
    Call call;
    call.name = name;
    call.thread = step.thread;
    call.start_ns = step.start_ns;
    call.end_ns = step.end_ns;
    call.correlation = static_cast<std::int64_t>(step.call) + 1;
    call.first_activity = execution_.activities.size();
    call.op = innermost_op(step.thread);
    execution_.calls.push_back(call);
    return execution_.calls.back();
  }

  // Makes the current call last until `work` has ended and the thread has noticed. Noticing takes
  // as long when the work was done before, so no time jumps when work ends a little later.
  void wait_for(const std::vector<std::size_t>& work, Nanoseconds return_delay_ns, HostStep& step) {
    const Nanoseconds notice_ns = timing().sync_return_ns + return_delay_ns;
    step.end_ns = std::max(step.end_ns, step.start_ns + notice_ns);
    for (const std::size_t index : work) {
      const Nanoseconds returns = execution_.activities[index].end_ns + notice_ns;
      if (returns <= step.end_ns) continue;
      step.end_ns = returns;
      step.waited = index;
    }
    execution_.calls[step.call].end_ns = step.end_ns;
  }

  void perform(const PlainCall& call, HostStep& step) { begin_call(call.name, call.call_ns, step); }

  void perform(const FreeCall& call, HostStep& step) {
    begin_call(call.name, call.call_ns, step);
    wait_for(work_of_device(call.device), call.return_delay_ns, step);
  }

  void perform(const RecordEvent& record, HostStep& step) {
    begin_call("cudaEventRecord", record.call_ns, step);
    EventState& event = events_[record.event];
    event.record_call = step.call;
    event.on = record.on;
    event.work = pending(record.on);
  }

  void perform(const StreamWaitEvent& wait, HostStep& step) {
    begin_call("cudaStreamWaitEvent", wait.call_ns, step);
    const EventState event = event_state(wait.event);
    std::vector<std::size_t>& awaited = streams_[wait.on].awaited;
    awaited.insert(awaited.end(), event.work.begin(), event.work.end());
    SyncRun& sync = add_sync(profile::SyncKind::stream_wait_event, step);
    sync.device = wait.on.device;
    sync.stream = wait.on.stream;
    set_event(sync, wait.event, event);
  }

  void perform(const Synchronise& action, HostStep& step) {
    switch (action.scope) {
      case SyncScope::stream:
        return synchronise_stream(action, step);
      case SyncScope::event:
        return synchronise_event(action, step);
      case SyncScope::device:
        return synchronise_device(action, step);
    }
  }

  void synchronise_stream(const Synchronise& action, HostStep& step) {
    begin_call("cudaStreamSynchronize", action.call_ns, step);
    wait_for(pending(action.on), action.return_delay_ns, step);
    SyncRun& sync = add_sync(profile::SyncKind::stream, step);
    sync.device = action.on.device;
    sync.stream = action.on.stream;
  }

  void synchronise_event(const Synchronise& action, HostStep& step) {
    begin_call("cudaEventSynchronize", action.call_ns, step);
    const EventState event = event_state(action.event);
    wait_for(event.work, action.return_delay_ns, step);
    SyncRun& sync = add_sync(profile::SyncKind::event, step);
    sync.device = event.on.device;
    set_event(sync, action.event, event);
  }

  void synchronise_device(const Synchronise& action, HostStep& step) {
    begin_call("cudaDeviceSynchronize", action.call_ns, step);
    wait_for(work_of_device(action.on.device), action.return_delay_ns, step);
    add_sync(profile::SyncKind::context, step).device = action.on.device;
  }

  SyncRun& add_sync(profile::SyncKind kind, const HostStep& step) {
    const bool roomy = step.end_ns - step.start_ns > 2 * timing().sync_record_margin_ns;
    const Nanoseconds margin = roomy ? timing().sync_record_margin_ns : 0;
    SyncRun sync;
    sync.kind = kind;
    sync.call = step.call;
    sync.start_ns = step.start_ns + margin;
    sync.end_ns = step.end_ns - margin;
    execution_.syncs.push_back(sync);
    return execution_.syncs.back();
  }

  static void set_event(SyncRun& sync, int event, const EventState& state) {
    sync.event = event;
    sync.record_call = state.record_call;
    sync.record_on = state.on;
  }

  EventState event_state(int event) const {
    const auto found = events_.find(event);
    return found == events_.end() ? EventState{} : found->second;
  }

  // --- work on a GPU ---------------------------------------------------------------------------

  std::vector<std::size_t> pending(StreamRef on) const {
    const auto found = streams_.find(on);
    if (found == streams_.end()) return {};
    std::vector<std::size_t> work = found->second.tail;
    work.insert(work.end(), found->second.awaited.begin(), found->second.awaited.end());
    return work;
  }

  std::vector<std::size_t> work_of_device(int device) const {
    std::vector<std::size_t> work;
    for (const auto& [on, state] : streams_) {
      if (on.device != device) continue;
      const std::vector<std::size_t> more = pending(on);
      work.insert(work.end(), more.begin(), more.end());
    }
    return work;
  }

  void perform(const Submit& submit, HostStep& step) {
    begin_call(submit.call_name, submit.call_ns, step).submits = true;
    Activity activity =
        new_activity(submit.work, first_work_[step.thread][step.action], submit.on, step);
    wait_for_stream(activity, submit.on);
    streams_[submit.on] = StreamState{{add(activity)}, {}};
    if (submit.waits) {
      wait_for({execution_.activities.size() - 1}, submit.return_delay_ns, step);
    }
  }

  void perform(const LaunchGraph& graph, HostStep& step) {
    begin_call(graph.call_name, graph.call_ns, step).submits = true;
    const std::size_t first = execution_.activities.size();
    std::map<int, std::size_t> last_of_branch;
    StreamState after;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      after.tail.push_back(add(graph_node(graph, node, first, last_of_branch, step)));
      last_of_branch[graph.nodes[node].stream] = after.tail.back();
    }
    for (const auto& [stream, last] : last_of_branch) {
      streams_[{graph.on.device, stream}] = StreamState{{last}, {}};
    }
    if (!graph.nodes.empty()) streams_[graph.on] = after;
  }

  Activity graph_node(const LaunchGraph& graph, std::size_t node, std::size_t first,
                      const std::map<int, std::size_t>& last_of_branch, const HostStep& step) {
    const GraphNodeWork& what = graph.nodes[node];
    const StreamRef on{graph.on.device, what.stream};
    Activity activity =
        new_activity(what.work, first_work_[step.thread][step.action] + node, on, step);
    activity.graph_id = graph.graph_id;
    activity.node_id = static_cast<std::int64_t>(node) + 1;
    wait_for_stream(activity, graph.on);
    const auto branch = last_of_branch.find(what.stream);
    if (branch != last_of_branch.end()) {
      arrive(activity, branch->second, timing().graph_gap_ns, StartedBy::graph_edge);
    } else if (on != graph.on) {
      wait_for_stream(activity, on);
    }
    for (const std::size_t earlier : what.after) {
      if (earlier >= node) {
        throw std::invalid_argument(fmt::format("graph node {} waits for node {}", node, earlier));
      }
      arrive(activity, first + earlier, timing().graph_gap_ns, StartedBy::graph_edge);
    }
    return activity;
  }

  Activity new_activity(const Work& work, std::size_t number, StreamRef on, const HostStep& step) {
    Activity activity;
    activity.number = number;
    activity.work = work;
    activity.on = on;
    activity.call = step.call;
    activity.start_ns = step.start_ns + timing().launch_latency_ns;
    return activity;
  }

  void wait_for_stream(Activity& activity, StreamRef on) {
    const StreamState& state = streams_[on];
    for (const std::size_t before : state.tail) {
      arrive(activity, before, timing().stream_gap_ns, StartedBy::stream_order);
    }
    for (const std::size_t before : state.awaited) {
      arrive(activity, before, timing().event_gap_ns, StartedBy::event_wait);
    }
  }

  void arrive(Activity& activity, std::size_t before, Nanoseconds gap_ns, StartedBy why) const {
    activity.predecessors.push_back(before);
    const Nanoseconds arrival = execution_.activities[before].end_ns + gap_ns;
    const bool first_device =
        arrival == activity.start_ns && activity.started_by == StartedBy::launch;
    if (arrival > activity.start_ns || first_device) {
      activity.start_ns = arrival;
      activity.started_by = why;
      activity.after = before;
    }
  }

  std::size_t add(Activity activity) {
    activity.start_ns += activity.work.start_delay_ns;
    activity.end_ns = activity.start_ns + activity.work.duration_ns;
    ++execution_.calls[activity.call].activities;
    execution_.activities.push_back(activity);
    return execution_.activities.size() - 1;
  }

  Execution execution_;
  std::vector<ThreadState> threads_;
  std::vector<std::vector<std::size_t>> first_work_;  // by thread and action
  std::map<StreamRef, StreamState> streams_;
  std::map<int, EventState> events_;
  std::map<int, std::size_t> signals_;  // flag to step
  std::int64_t last_external_id_ = 0;
};

}  // namespace

Execution run(const Program& program) {
  return Machine(program).run();
}

}  // namespace gprofml::synth
