// What happened when a Program ran: the exact time of everything, and why it was not earlier.
//
// The rules of the machine, all of them:
//   - a thread does its actions one after the other; calls last `call_ns` unless they wait;
//   - work starts no earlier than its call's start + launch latency, and after the work before it
//     on its stream, the work of the events its stream waits for and its graph predecessors, each
//     with its gap; what arrives last decides (device before host on a tie);
//   - a waiting call returns sync_return after the last of its work ended, and lasts at least
//     `call_ns` and at least sync_return;
//   - streams and devices run side by side without slowing each other.
// Host actions of several threads take effect in order of their start, ties by thread number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "test/synth/program.hpp"

namespace gprofml::synth {

inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// What decided that work started when it did.
enum class StartedBy : std::uint8_t { launch, stream_order, event_wait, graph_edge };

struct Activity {
  std::size_t number = 0;  ///< number of its work in the program (work_count)
  Work work;
  StreamRef on;
  Nanoseconds start_ns = 0;
  Nanoseconds end_ns = 0;
  std::size_t call = 0;                       ///< index in Execution::calls
  std::int64_t graph_id = profile::kUnknown;  ///< outside a graph: kUnknown
  std::int64_t node_id = profile::kUnknown;
  StartedBy started_by = StartedBy::launch;
  std::size_t after = kNone;              ///< the activity that arrived last; kNone for launch
  std::vector<std::size_t> predecessors;  ///< every activity it had to wait for
};

struct Call {
  std::string name;
  std::size_t thread = 0;
  Nanoseconds start_ns = 0;
  Nanoseconds end_ns = 0;
  std::int64_t correlation = 0;
  bool submits = false;
  std::size_t first_activity =
      0;  ///< its activities are [first_activity, first_activity + activities)
  std::size_t activities = 0;
  std::size_t op = kNone;  ///< innermost open range of kind op; index in Execution::ranges
};

struct RangeRun {
  profile::RangeKind kind = profile::RangeKind::op;
  std::string name;
  std::size_t thread = 0;
  Nanoseconds start_ns = 0;
  Nanoseconds end_ns = 0;
  std::int64_t external_id = profile::kUnknown;  ///< of ops and annotations
  std::size_t parent = kNone;                    ///< index in Execution::ranges
};

/// A synchronisation as the driver would record it.
struct SyncRun {
  profile::SyncKind kind = profile::SyncKind::unknown;
  std::size_t call = 0;
  Nanoseconds start_ns = 0;  ///< the record lies inside its call
  Nanoseconds end_ns = 0;
  int device = 0;
  int stream = -1;                  ///< the stream waited for, or that waits; -1: none
  int event = -1;                   ///< the event waited for; -1: none
  std::size_t record_call = kNone;  ///< the cudaEventRecord waited for
  StreamRef record_on;              ///< where that event was recorded
};

/// One action of a thread. The steps of a thread follow each other without a hole.
struct HostStep {
  std::size_t thread = 0;
  std::size_t action = 0;  ///< index in HostThread::actions
  Nanoseconds start_ns = 0;
  Nanoseconds end_ns = 0;
  std::size_t call = kNone;      ///< index in Execution::calls; kNone: no CUDA call
  std::size_t range = kNone;     ///< innermost open range
  std::size_t waited = kNone;    ///< the activity whose end decided when this step ended
  std::size_t woken_by = kNone;  ///< the step whose signal decided when this step ended
  std::size_t previous = kNone;  ///< the thread's step before
};

/// Activities and calls are in order of submission, which is the order of their call's start.
struct Execution {
  Program program;
  std::vector<Activity> activities;
  std::vector<Call> calls;
  std::vector<RangeRun> ranges;
  std::vector<SyncRun> syncs;
  std::vector<HostStep> steps;
};

/// Executes the program. Throws std::invalid_argument when a thread waits for a signal that never
/// comes, closes a range it did not open, or a graph node waits for a later one.
Execution run(const Program& program);

}  // namespace gprofml::synth
