// Host calls that wait for the GPU, and what each of them waited for.
#pragma once

#include <optional>
#include <vector>

#include "libanalysis/graph/activities.hpp"
#include "libanalysis/graph/call_traits.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// The activity whose end let a blocking call return.
struct Awaited {
  ActivityIndex activity = kNoActivity;
  profile::Nanoseconds end_ns = 0;
  bool inferred = false;  ///< which streams the call waits for was not recorded
};

class BlockingCalls {
 public:
  BlockingCalls(const profile::Trace& trace, const Activities& activities,
                const CallTraitsTable& traits);

  /// Whether the host waits in this call: synchronisations, frees that are not stream-ordered, and
  /// copies that hold their own copy (it starts before the call ends and at least half of it lies
  /// before that; an asynchronous copy of pinned memory, or on the device, never blocks).
  bool blocks(profile::RowIndex call) const;

  /// What a blocking call that was still running at `t_ns` had waited for: its own copy, else the
  /// work that ended last in (call start, t], launched before the call, within the call's scope.
  std::optional<Awaited> awaited(profile::RowIndex call, profile::Nanoseconds t_ns) const;

  /// For each stream that a blocking call waits for, the last end by `t_ns` of work launched before
  /// the call, also where it ended before the call began; of a copy that blocks its own copy. What
  /// a blocking call would wait for if that work ran later.
  std::vector<Awaited> last_of_each_stream(profile::RowIndex call, profile::Nanoseconds t_ns) const;

  /// The activity of a stream that ended last by `t_ns` (corrected end) and comes before `before`
  /// in order; kNoActivity: none.
  ActivityIndex last_end_by(profile::RowIndex stream, profile::Nanoseconds t_ns,
                            ActivityIndex before) const;

 private:
  struct Scope {
    std::vector<profile::RowIndex> streams;
    profile::Nanoseconds launched_before_ns;
    bool inferred;
  };

  std::optional<ActivityIndex> own_copy(profile::RowIndex call) const;
  Scope scope_of(profile::RowIndex call) const;
  std::optional<Awaited> last_end_on(profile::RowIndex stream, const Scope& scope,
                                     profile::Nanoseconds after_ns,
                                     profile::Nanoseconds until_ns) const;

  const profile::Trace& trace_;
  const Activities& work_;
  const CallTraitsTable& traits_;
  std::vector<profile::RowIndex> sync_of_call_;     // kNoRow: no record
  std::vector<std::vector<ActivityIndex>> by_end_;  // a stream's work by corrected end
  std::vector<std::vector<profile::RowIndex>> process_streams_;
};

}  // namespace gprofml::analysis
