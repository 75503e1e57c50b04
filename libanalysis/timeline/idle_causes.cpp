#include "libanalysis/timeline/idle_causes.hpp"

#include <algorithm>

namespace gprofml::analysis {

using profile::Nanoseconds;
using profile::RowIndex;

namespace {

// One maximal gap [a, b) and the activity that ended it.
class Gap {
 public:
  Gap(const DependencyGraph& graph, Nanoseconds a, Nanoseconds b, ActivityIndex resumer,
      const std::function<void(const IdlePiece&)>& receive)
      : graph_(graph), a_(a), b_(b), r_(resumer), receive_(receive) {}

  // Causes from the latest instant to the earliest: `b_` moves down as they are given away.
  void explain() {
    if (!graph_.work.linked(r_)) return give(TimeClass::no_launch_record, a_);
    const Nanoseconds ls = graph_.launch_start_ns(r_);
    wait_for_other_device(ls);
    after_launch_start(ls);
    before_launch(ls);
  }

 private:
  void give(TimeClass cause, Nanoseconds from) {
    from = std::max(from, a_);
    if (from >= b_) return;
    receive_({cause, from, b_});
    b_ = from;
  }

  // The part in which a producer on another device is unfinished lies before what follows its end:
  // the rules below are asked for the time after it, then for the time before the launch.
  void wait_for_other_device(Nanoseconds ls) {
    other_device_until_ = ls;
    for (const ActivityIndex p : graph_.waits.producers(r_)) {
      if (graph_.work.device[p] == graph_.work.device[r_]) continue;
      other_device_until_ = std::max(other_device_until_, graph_.work.corrected_end_ns[p]);
    }
  }

  void after_launch_start(Nanoseconds ls) {
    const Nanoseconds floor = std::max({ls, a_, other_device_until_});
    if (graph_.work.work_of_call(graph_.work.call[r_]).front() != r_) {
      limited(TimeClass::graph_gap, floor, floor);
    } else {
      const Nanoseconds le = graph_.launch_end_ns(r_);
      const bool queued = ls + graph_.latency.lambda_ns <= a_;
      limited(queued ? TimeClass::device_gap : TimeClass::launch_latency, std::max(le, floor),
              std::max(le, floor));
      const Nanoseconds part = std::min(le, b_) - std::max(ls, a_);
      give(part > kSlowLaunchNs ? TimeClass::slow_launch_call : TimeClass::launch_call, floor);
    }
    give(TimeClass::wait_other_device, ls);
  }

  // [from, b) down to `floor`: the first Λ after `from` is `cause`, what is later has no reason.
  void limited(TimeClass cause, Nanoseconds from, Nanoseconds floor) {
    give(TimeClass::issued_no_recorded_reason, std::max(floor, from + graph_.latency.Lambda_ns));
    give(cause, floor);
  }

  void before_launch(Nanoseconds ls) {
    if (b_ <= a_) return;
    const RowIndex thread = graph_.trace.api_calls.thread[graph_.work.call[r_]];
    // Clocks may put a launch after the start of its work: then the walk begins where the gap ends.
    HostWalk(graph_).through_gap(
        thread, std::min(ls, b_), a_, graph_.work.device[r_],
        [&](const HostPiece& piece) { give(piece.time_class, piece.start_ns); });
    give(TimeClass::thread_not_seen, a_);
  }

  const DependencyGraph& graph_;
  Nanoseconds a_;
  Nanoseconds b_;
  ActivityIndex r_;
  const std::function<void(const IdlePiece&)>& receive_;
  Nanoseconds other_device_until_ = 0;
};

}  // namespace

void find_idle_causes(const DependencyGraph& graph, std::span<const ActivityIndex> work,
                      const std::function<void(const IdlePiece&)>& receive) {
  if (work.empty()) return;
  Nanoseconds reach = graph.work.start_ns[work.front()];
  for (const ActivityIndex i : work) {
    const Nanoseconds start = graph.work.start_ns[i];
    if (start > reach) Gap(graph, reach, start, i, receive).explain();
    reach = std::max(reach, graph.work.end_ns[i]);
  }
}

}  // namespace gprofml::analysis
