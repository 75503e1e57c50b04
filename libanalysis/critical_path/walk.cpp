#include "libanalysis/critical_path/walk.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "libanalysis/graph/arrivals.hpp"
#include "libanalysis/graph/host_walk.hpp"

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

constexpr Nanoseconds kNever = std::numeric_limits<Nanoseconds>::min();

// Collects segments from the end of the window to its start. Time above `inferred_above_` was
// reached over an inferred dependency.
class Segments {
 public:
  Segments(const RangeTree& tree, const Window& window)
      : tree_(tree), from_(window.from_ns), at_(window.to_ns) {}

  bool done() const { return at_ <= from_; }
  Nanoseconds at() const { return at_; }
  Nanoseconds floor() const { return from_; }

  // Everything down to `recorded_ns` was reached by a guess.
  void infer_down_to(Nanoseconds recorded_ns) {
    inferred_above_ = std::min(inferred_above_, std::max(recorded_ns, from_));
  }

  // [start, at) is `s`; splits where the inferred part begins.
  void add(PathSegment s, Nanoseconds start) {
    start = std::max(start, from_);
    while (at_ > start) {
      Nanoseconds down = start;
      const bool guessed = at_ > inferred_above_;
      if (guessed && inferred_above_ > start) down = inferred_above_;
      PathSegment piece = s;
      piece.start_ns = down;
      piece.duration_ns = at_ - down;
      piece.inferred = (s.inferred || guessed) && !is_unknown(s.time_class);
      segments_.push_back(piece);
      at_ = down;
    }
  }

  // Host code takes the name of the innermost range, which may change within it.
  void add_host_code(RowIndex thread, Nanoseconds start, bool inferred) {
    start = std::max(start, from_);
    while (at_ > start) {
      const Nanoseconds change = std::max(start, tree_.last_change_before(thread, at_));
      const RowIndex range = tree_.innermost(thread, at_ - 1);
      add({TimeClass::host_code,
           range == kNoRow ? PathSegment::Subject::none : PathSegment::Subject::range, range,
           thread, 0, 0, inferred},
          change);
    }
  }

  std::vector<PathSegment> in_time_order() {
    std::reverse(segments_.begin(), segments_.end());
    return std::move(segments_);
  }

 private:
  const RangeTree& tree_;
  Nanoseconds from_;
  Nanoseconds at_;
  Nanoseconds inferred_above_ = std::numeric_limits<Nanoseconds>::max();
  std::vector<PathSegment> segments_;
};

class Walk {
 public:
  Walk(const DependencyGraph& graph, const RangeTree& tree, const Window& window)
      : graph_(graph), work_(graph.work), window_(window), arrivals_(graph), out_(tree, window) {}

  std::vector<PathSegment> run() {
    if (window_.sink_at_edge) {
      from_gpu_start(activity_starting_at(window_.to_ns));
    } else {
      from_last_end();
    }
    while (!out_.done() && next_ != kNoActivity) {
      const ActivityIndex i = next_;
      next_ = kNoActivity;
      PathSegment segment;
      segment.time_class = time_class_of(work_.kind[i]);
      segment.subject = PathSegment::Subject::activity;
      segment.row = i;
      out_.add(segment, work_.start_ns[i]);
      if (!out_.done()) from_gpu_start(i);
    }
    return out_.in_time_order();
  }

 private:
  ActivityIndex activity_starting_at(Nanoseconds t) const {
    const auto it = std::lower_bound(work_.start_ns.begin(), work_.start_ns.end(), t);
    return static_cast<ActivityIndex>(it - work_.start_ns.begin());
  }

  // The sink is the last end among GPU work and CUDA calls; host time after it is no dependency.
  void from_last_end() {
    ActivityIndex last_work = kNoActivity;
    for (ActivityIndex i = 0; i < work_.size(); ++i) {
      const Nanoseconds end = work_.corrected_end_ns[i];
      if (end > window_.to_ns || work_.start_ns[i] >= window_.to_ns) continue;
      if (last_work == kNoActivity || end >= work_.corrected_end_ns[last_work]) last_work = i;
    }
    RowIndex last_call = kNoRow;
    const profile::ApiCallColumns& calls = graph_.trace.api_calls;
    for (RowIndex c = 0; c < calls.size(); ++c) {
      if (calls.end_ns[c] > window_.to_ns ||
          !profile::has_timestamp(calls.start_ns[c], calls.end_ns[c]))
        continue;
      if (last_call == kNoRow || calls.end_ns[c] > calls.end_ns[last_call]) last_call = c;
    }
    const Nanoseconds work_end =
        last_work == kNoActivity ? kNever : work_.corrected_end_ns[last_work];
    const Nanoseconds call_end = last_call == kNoRow ? kNever : calls.end_ns[last_call];
    PathSegment after;
    after.time_class = TimeClass::after_last_gpu_work;
    out_.add(after, std::max(work_end, call_end));
    if (out_.done()) return;
    if (call_end > work_end) {
      host(calls.thread[last_call], call_end);
    } else {
      next_ = last_work;
    }
  }

  // The latest recorded arrival, of equal ones earlier work before the launch; nullptr: none.
  const WorkArrival* last_arrival(ActivityIndex i) {
    arrivals_.of(i, of_work_);
    const auto latest = std::max_element(
        of_work_.begin(), of_work_.end(),
        [](const WorkArrival& a, const WorkArrival& b) { return a.at_ns < b.at_ns; });
    return latest == of_work_.end() ? nullptr : &*latest;
  }

  // On other streams of the process, the work that ended last within Λ before s, after all recorded
  // arrivals. (None of its own stream can: its predecessor is a recorded arrival.)
  ActivityIndex inferred_cause(ActivityIndex i, Nanoseconds s, Nanoseconds recorded) const {
    const Nanoseconds earliest = std::max(recorded, s - graph_.latency.Lambda_ns - 1);
    return graph_.process_ends.find_last(work_.process[i], earliest, s, [&](ActivityIndex other) {
      return other < i && work_.stream[other] != work_.stream[i];
    });
  }

  void from_gpu_start(ActivityIndex i) {
    const Nanoseconds s = out_.at();
    const WorkArrival* arrival = last_arrival(i);
    const Nanoseconds recorded = arrival == nullptr ? kNever : std::min(arrival->at_ns, s);
    if (recorded == kNever || s - recorded > graph_.latency.Lambda_ns) {
      const ActivityIndex cause = inferred_cause(i, s, recorded);
      if (cause != kNoActivity) {
        out_.infer_down_to(recorded);
        return follow(i, cause, work_.corrected_end_ns[cause]);
      }
    }
    if (arrival == nullptr) return unexplained(TimeClass::no_launch_record, out_.floor());
    if (arrival->from_host()) return launched(i);
    follow(i, arrival->activity, recorded);
  }

  void unexplained(TimeClass c, Nanoseconds down_to) {
    PathSegment segment;
    segment.time_class = c;
    out_.add(segment, down_to);
  }

  // [its end, s): a gap of up to Λ after the end, what is beyond has no recorded reason.
  void follow(ActivityIndex i, ActivityIndex before, Nanoseconds at) {
    unexplained(
        work_.linked(i) ? TimeClass::issued_no_recorded_reason : TimeClass::no_launch_record,
        at + graph_.latency.Lambda_ns);
    PathSegment gap;
    gap.time_class = work_.same_launch(i, before) ? TimeClass::graph_gap : TimeClass::device_gap;
    gap.subject = PathSegment::Subject::activity;
    gap.row = i;
    out_.add(gap, at);
    next_ = before;
  }

  void launched(ActivityIndex i) {
    const RowIndex call = work_.call[i];
    const Nanoseconds ls = graph_.launch_start_ns(i);
    const Nanoseconds le = graph_.launch_end_ns(i);
    const RowIndex thread = graph_.trace.api_calls.thread[call];
    unexplained(TimeClass::issued_no_recorded_reason, le + graph_.latency.Lambda_ns);
    PathSegment segment;
    segment.subject = PathSegment::Subject::call;
    segment.row = call;
    segment.thread = thread;
    segment.time_class = TimeClass::launch_latency;
    out_.add(segment, le);
    segment.time_class = out_.at() - std::max(ls, out_.floor()) > kSlowLaunchNs
                             ? TimeClass::slow_launch_call
                             : TimeClass::launch_call;
    out_.add(segment, ls);
    host(thread, out_.at());
  }

  void host(RowIndex thread, Nanoseconds t) {
    const std::optional<GpuEntry> entry = HostWalk(graph_).to_cause(
        thread, t, out_.floor(), [&](const HostPiece& piece) { host_piece(piece); });
    if (entry) next_ = entry->activity;
  }

  void host_piece(const HostPiece& piece) {
    if (piece.time_class == TimeClass::host_code) {
      return out_.add_host_code(piece.thread, piece.start_ns, piece.inferred);
    }
    PathSegment segment;
    segment.time_class = piece.time_class;
    segment.subject =
        piece.call == kNoRow ? PathSegment::Subject::none : PathSegment::Subject::call;
    segment.row = piece.call;
    segment.thread = piece.thread;
    segment.inferred = piece.inferred;
    out_.add(segment, piece.start_ns);
  }

  const DependencyGraph& graph_;
  const Activities& work_;
  const Window& window_;
  Arrivals arrivals_;
  std::vector<WorkArrival> of_work_;  // of the activity at hand
  Segments out_;
  ActivityIndex next_ = kNoActivity;
};

// A trace that lost calls looks host-bound with nothing unknown: its idle time tells.
bool idle_without_reason(const Timeline& timeline) {
  Nanoseconds idle = 0, span = 0, without = 0;
  for (const DeviceTimeline& d : timeline.devices) {
    idle += d.idle_ns;
    span += d.span_ns;
    without += d.idle_by_cause[static_cast<std::size_t>(TimeClass::issued_no_recorded_reason)];
  }
  return without > 0 && 10 * without >= idle && 50 * without >= span;
}

void sum_up(CriticalPath& path) {
  for (const PathSegment& s : path.segments) {
    path.by_class[static_cast<std::size_t>(s.time_class)] += s.duration_ns;
    path.segments_total_ns += s.duration_ns;
    if (is_gpu_work(s.time_class)) path.gpu_ns += s.duration_ns;
    if (is_unknown(s.time_class)) path.unknown_ns += s.duration_ns;
    if (!s.inferred) continue;
    path.inferred_ns += s.duration_ns;
    path.inferred_by_class[static_cast<std::size_t>(s.time_class)] += s.duration_ns;
  }
}

}  // namespace

CriticalPath find_critical_path(const DependencyGraph& graph, const RangeTree& tree,
                                const Window& window, const Timeline& timeline) {
  CriticalPath path;
  if (graph.work.size() == 0) return path;
  path.exists = true;
  path.window_ns = window.to_ns - window.from_ns;
  path.segments = Walk(graph, tree, window).run();
  sum_up(path);
  if (5 * (path.inferred_ns + path.unknown_ns) > path.window_ns) {
    path.partial_because.push_back("inferred+unknown");
  }
  if (idle_without_reason(timeline))
    path.partial_because.push_back("idle issued_no_recorded_reason");
  path.partial = !path.partial_because.empty();
  return path;
}

}  // namespace gprofml::analysis
