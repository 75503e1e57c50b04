#include "libanalysis/graph/host_walk.hpp"

#include <algorithm>

namespace gprofml::analysis {

using profile::kNoRow;
using profile::Nanoseconds;
using profile::RowIndex;

namespace {

// A thread that ran nothing known for longer than this waited for another thread.
constexpr Nanoseconds kJumpAfter = 20'000;

}  // namespace

struct HostWalk::Walker {
  const DependencyGraph& graph;
  RowIndex thread;
  Nanoseconds t;
  Nanoseconds floor;
  RowIndex idle_device;  // kNoRow: critical path
  const HostPieceReceiver& receive;
  // Cover ends of the process not yet tried by jumps at t: a jump that takes no time must not be
  // undone by the next one.
  std::optional<std::size_t> untried_at_t{};

  void emit(TimeClass c, Nanoseconds start, RowIndex call, bool inferred) {
    if (start >= t) return;
    receive({c, start, t, thread, call, inferred});
    t = start;
    untried_at_t.reset();
  }

  std::optional<GpuEntry> walk() {
    while (t > floor) {
      const RowIndex call = graph.threads.last_call_before(thread, t);
      if (call != kNoRow && graph.trace.api_calls.end_ns[call] >= t) {
        if (const std::optional<GpuEntry> entry = through_call(call)) return entry;
        continue;
      }
      const Stretch* stretch = graph.threads.last_stretch_before(thread, t);
      if (stretch != nullptr && stretch->end_ns >= t) {
        Nanoseconds down = stretch->start_ns;
        if (call != kNoRow) down = std::max(down, graph.trace.api_calls.end_ns[call]);
        emit(TimeClass::host_code, down, kNoRow, false);
        continue;
      }
      if (!leave_uncovered(stretch)) return std::nullopt;
    }
    return std::nullopt;
  }

  // Nothing known runs at t: go to the last cover, or to the thread this one waited for. False when
  // there is nothing to go to.
  bool leave_uncovered(const Stretch* last) {
    if (last == nullptr || t - last->end_ns > kJumpAfter) {
      if (jump(last)) return true;
    }
    if (last != nullptr) {
      emit(TimeClass::host_code, last->end_ns, kNoRow, false);
      return true;
    }
    const std::optional<Nanoseconds> first = graph.threads[thread].first_record_ns;
    if (first && *first < t) emit(TimeClass::host_code, *first, kNoRow, false);
    if (t > floor) emit(TimeClass::thread_not_seen, floor, kNoRow, false);
    return false;
  }

  // Nothing of this thread ended in (last, t], so the latest end there is another thread's.
  bool jump(const Stretch* last) {
    const auto& ends = graph.threads.cover_ends(graph.trace.threads[thread].process);
    if (!untried_at_t) {
      const auto after = std::upper_bound(
          ends.begin(), ends.end(), t,
          [](Nanoseconds at, const HostThreads::CoverEnd& e) { return at < e.end_ns; });
      untried_at_t = static_cast<std::size_t>(after - ends.begin());
    }
    std::size_t& left = *untried_at_t;
    while (left > 0 && ends[left - 1].thread == thread) --left;
    if (left == 0 || (last != nullptr && ends[left - 1].end_ns <= last->end_ns)) return false;
    const HostThreads::CoverEnd target = ends[--left];
    emit(TimeClass::host_code, target.end_ns, kNoRow, true);
    thread = target.thread;
    return true;
  }

  std::optional<GpuEntry> through_call(RowIndex call) {
    const Nanoseconds start = graph.trace.api_calls.start_ns[call];
    const Nanoseconds end = graph.trace.api_calls.end_ns[call];
    if (graph.blocking.blocks(call)) return through_blocking(call, start);
    TimeClass c = TimeClass::runtime_call;
    if (graph.submits(call)) {
      c = end - start > kSlowLaunchNs ? TimeClass::slow_launch_call : TimeClass::launch_call;
      if (launches_elsewhere(call)) c = TimeClass::launching_elsewhere;
    }
    emit(c, start, call, false);
    return std::nullopt;
  }

  bool launches_elsewhere(RowIndex call) const {
    const auto work = graph.work.work_of_call(call);
    if (idle_device == kNoRow || work.empty()) return false;
    return std::none_of(work.begin(), work.end(),
                        [&](ActivityIndex i) { return graph.work.device[i] == idle_device; });
  }

  std::optional<GpuEntry> through_blocking(RowIndex call, Nanoseconds start) {
    const bool free = graph.traits.of(call).blocking == Blocking::free;
    const std::optional<Awaited> awaited = graph.blocking.awaited(call, t);
    if (!awaited) {
      if (!free) {
        emit(TimeClass::sync_return, std::max(start, t - graph.latency.Lambda_ns), call, false);
      }
      emit(free ? TimeClass::runtime_call : TimeClass::sync_no_recorded_work, start, call, false);
      return std::nullopt;
    }
    const Nanoseconds awaited_end = std::min(awaited->end_ns, t);
    emit(free ? TimeClass::runtime_call : TimeClass::sync_return, awaited_end, call,
         !free && awaited->inferred);
    if (idle_device == kNoRow) return GpuEntry{awaited->activity, awaited_end};
    emit(TimeClass::wait_other_device, start, call, false);
    return std::nullopt;
  }
};

std::optional<GpuEntry> HostWalk::to_cause(RowIndex thread, Nanoseconds t_ns, Nanoseconds floor_ns,
                                           const HostPieceReceiver& receive) const {
  return Walker{graph_, thread, t_ns, floor_ns, kNoRow, receive}.walk();
}

void HostWalk::through_gap(RowIndex thread, Nanoseconds t_ns, Nanoseconds floor_ns, RowIndex device,
                           const HostPieceReceiver& receive) const {
  Walker{graph_, thread, t_ns, floor_ns, device, receive}.walk();
}

}  // namespace gprofml::analysis
