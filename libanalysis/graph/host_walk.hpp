// Walking back in time on the host: from an instant on a thread to what the thread was doing.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/graph/time_class.hpp"

namespace gprofml::analysis {

/// A piece of host time, reported from the latest to the earliest. Pieces are adjacent; they may
/// reach below the floor of the walk, the receiver clips.
struct HostPiece {
  TimeClass time_class;
  profile::Nanoseconds start_ns;
  profile::Nanoseconds end_ns;
  profile::RowIndex thread;
  profile::RowIndex call;  ///< kNoRow for host code
  bool inferred;           ///< thread jump, or a synchronisation of guessed scope
};

/// Where a walk leaves the host: it goes on in this activity at this time.
struct GpuEntry {
  ActivityIndex activity;
  profile::Nanoseconds at_ns;
};

using HostPieceReceiver = std::function<void(const HostPiece&)>;

/// Walks back as definitions.md, "Walking back on the host", lays down.
class HostWalk {
 public:
  explicit HostWalk(const DependencyGraph& graph) : graph_(graph) {}

  /// For the critical path: from (thread, t) down to `floor_ns`, or to the blocking call whose
  /// awaited activity the walk continues in.
  std::optional<GpuEntry> to_cause(profile::RowIndex thread, profile::Nanoseconds t_ns,
                                   profile::Nanoseconds floor_ns,
                                   const HostPieceReceiver& receive) const;

  /// For idle causes of `device`: from (thread, t) down to `floor_ns`, staying on the host: before
  /// what a blocking call awaited, the device waited for another one.
  void through_gap(profile::RowIndex thread, profile::Nanoseconds t_ns,
                   profile::Nanoseconds floor_ns, profile::RowIndex device,
                   const HostPieceReceiver& receive) const;

 private:
  struct Walker;
  const DependencyGraph& graph_;
};

/// Longest part of a launch call that still counts as an ordinary one.
inline constexpr profile::Nanoseconds kSlowLaunchNs = 1'000'000;

}  // namespace gprofml::analysis
