// What each host thread was doing, indexed for walking back in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// A half-open interval of host time.
struct Stretch {
  profile::Nanoseconds start_ns;
  profile::Nanoseconds end_ns;
};

/// One host thread. Covers are ops and API calls: intervals in which the thread ran code that the
/// trace knows of. Ranges, annotations and Python frames say what was going on but cover nothing.
struct HostThread {
  std::vector<profile::RowIndex> outermost_calls;       ///< calls not inside another call, by start
  std::vector<Stretch> covered;                         ///< union of covers; touching ones are one
  std::optional<profile::Nanoseconds> first_record_ns;  ///< of any kind, ranges included
};

/// Whether a range is the profiler's mark of a step ("ProfilerStep#12"). Files of 2020 and 2021
/// write it among the operators: there it covers host time like any op, but it is never part of an
/// op path.
bool is_step_mark(std::string_view name);

/// All host threads of a trace, by row of Trace::threads.
class HostThreads {
 public:
  explicit HostThreads(const profile::Trace& trace);

  const HostThread& operator[](profile::RowIndex thread) const { return threads_[thread]; }
  std::size_t size() const { return threads_.size(); }

  /// Whether a range covers host time: it is an op.
  bool covers(profile::RowIndex range) const;

  /// The end of a cover (an op or call, nested ones count) on one thread of a process.
  struct CoverEnd {
    profile::Nanoseconds end_ns;
    profile::RowIndex thread;
  };

  /// All cover ends of a process, by time; of equal ones that of the smallest (pid, tid) last, so
  /// that it is met first from behind.
  const std::vector<CoverEnd>& cover_ends(profile::RowIndex process) const {
    return cover_ends_[process];
  }

  /// The outermost call that started last before `t_ns` on a thread; kNoRow: none.
  profile::RowIndex last_call_before(profile::RowIndex thread, profile::Nanoseconds t_ns) const;

  /// The covered stretch that started last before `t_ns` on a thread; nullptr: none.
  const Stretch* last_stretch_before(profile::RowIndex thread, profile::Nanoseconds t_ns) const;

 private:
  const profile::Trace& trace_;
  std::vector<HostThread> threads_;
  std::vector<std::vector<CoverEnd>> cover_ends_;  // by process
};

}  // namespace gprofml::analysis
