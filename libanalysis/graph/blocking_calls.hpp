// Host calls that wait for the GPU, and what each of them waited for.
#pragma once

#include <optional>
#include <vector>

#include "libanalysis/graph/activities.hpp"
#include "libanalysis/graph/call_traits.hpp"
#include "libanalysis/graph/end_order.hpp"
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
  /// `stream_ends` and `process_ends`: the activities of each stream and process by their ends.
  BlockingCalls(const profile::Trace& trace, const Activities& activities,
                const CallTraitsTable& traits, const EndOrder& stream_ends,
                const EndOrder& process_ends);

  /// Whether the host waits in this call: synchronisations, frees that are not stream-ordered, and
  /// copies that hold their own copy (it starts before the call ends and at least half of it lies
  /// before that; an asynchronous copy of pinned memory, or on the device, never blocks).
  bool blocks(profile::RowIndex call) const;

  /// What a blocking call that was still running at `t_ns` had waited for: its own copy, else the
  /// work that ended last in (call start, t], launched before the call, within the call's scope.
  std::optional<Awaited> awaited(profile::RowIndex call, profile::Nanoseconds t_ns) const;

  /// For each stream that a blocking call waits for, the last end by `t_ns` of work launched before
  /// the call, also where it ended before the call began; of a copy that blocks its own copy. What
  /// a blocking call would wait for if that work ran later. A process with more streams than any
  /// real one has is spared the product of streams and calls: only `awaited` is given.
  std::vector<Awaited> last_of_each_stream(profile::RowIndex call, profile::Nanoseconds t_ns) const;

 private:
  // Work a call waits for: of one stream, else of the process, there perhaps of one device only.
  struct Scope {
    profile::RowIndex stream = profile::kNoRow;
    profile::RowIndex device = profile::kNoRow;
    profile::Nanoseconds launched_before_ns = 0;
    bool inferred = false;
  };

  ActivityIndex own_copy(profile::RowIndex call) const;
  Scope scope_of(profile::RowIndex call) const;
  bool in_scope(const Scope& scope, ActivityIndex i) const;

  const profile::Trace& trace_;
  const Activities& work_;
  const CallTraitsTable& traits_;
  std::vector<profile::RowIndex> sync_of_call_;  // kNoRow: no record
  const EndOrder& stream_ends_;
  const EndOrder& process_ends_;
  std::vector<std::vector<profile::RowIndex>> process_streams_;
};

}  // namespace gprofml::analysis
