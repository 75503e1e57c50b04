// What an analysis must find in an Execution, computed by brute force: every figure by looking at
// every instant between two event times, the chain from the reasons the simulation itself noted,
// slack by running the program again. Slow on purpose; for programs of some hundred activities.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "test/synth/execution.hpp"

namespace gprofml::synth {

/// Times of one device. Unions and exposures count every instant once.
struct DeviceTruth {
  std::int64_t kernels = 0;  ///< with communication
  std::int64_t copies = 0;
  std::int64_t fills = 0;
  Nanoseconds kernel_ns = 0;  ///< sums of durations
  Nanoseconds copy_ns = 0;
  Nanoseconds fill_ns = 0;
  Nanoseconds busy_ns = 0;
  Nanoseconds kernel_union_ns = 0;
  Nanoseconds memory_union_ns = 0;  ///< copies and fills
  Nanoseconds communication_union_ns = 0;
  Nanoseconds communication_exposed_ns = 0;  ///< communication, and no other kernel
  Nanoseconds copy_exposed_ns = 0;           ///< copy or fill, and no kernel of any kind
  Nanoseconds span_ns = 0;                   ///< first start to last end
  Nanoseconds idle_ns = 0;                   ///< span − busy
  bool operator==(const DeviceTruth&) const = default;
};

/// By device ordinal; devices without work are absent.
std::map<int, DeviceTruth> device_truth(const Execution& execution);

struct CallTruth {
  std::int64_t calls = 0;
  std::int64_t submissions = 0;  ///< calls that put work on a GPU
  std::int64_t linked = 0;       ///< activities; all of them have their call
};
CallTruth call_truth(const Execution& execution);

/// First start to last end of any activity, call or op: the analysis' window `all`.
struct Interval {
  Nanoseconds from_ns = 0;
  Nanoseconds to_ns = 0;
};
Interval recorded_window(const Execution& execution);

/// The last end among activities and calls. (Host work, ranges and frames may end later.)
Nanoseconds last_work_end_ns(const Execution& execution);

enum class ChainWhat : std::uint8_t {
  kernel,
  communication,
  copy,
  fill,  // subject: activity
  stream_gap,
  event_gap,
  graph_gap,    // subject: the activity that waited for its start
  launch,       // start of the call to start of its work; subject: activity
  sync_return,  // end of the waited work to return of the call; subject: step
  call,
  host_work,
  wake,          // subject: step; wake: signal to running again
  thread_start,  // before the thread's first action; subject: kNone
};

struct ChainSegment {
  ChainWhat what = ChainWhat::kernel;
  std::size_t subject = kNone;
  Nanoseconds start_ns = 0;
  Nanoseconds end_ns = 0;
};

/// Why `last_work_end_ns` is not earlier: a partition of [Program::begin_ns, last_work_end_ns) in
/// time order, without empty segments, following at each point what arrived last.
std::vector<ChainSegment> critical_chain(const Execution& execution);

/// By how much the activity's duration can grow, everything else played out anew, without moving
/// `last_work_end_ns`. Found by bisection, so exact where growing it never makes the program
/// faster: always with one host thread.
Nanoseconds slack_ns(const Program& program, std::size_t work);

/// By how much the activity's duration can shrink with `last_work_end_ns` coming as much earlier:
/// after that another chain of waits decides. 0 off the critical chain. As exact as slack_ns.
Nanoseconds competing_slack_ns(const Program& program, std::size_t work);

}  // namespace gprofml::synth
