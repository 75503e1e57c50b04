// The op path of all GPU work, that replayed from CUDA graphs included.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libanalysis/graph/dependency_graph.hpp"
#include "libanalysis/hierarchy/range_tree.hpp"

namespace gprofml::analysis {

/// The range in which an activity originated: the innermost one open on the launching thread when
/// the call began, else the op that the source itself names; kNoRow when neither is known. For work
/// of a graph this is where the graph was launched.
profile::RowIndex origin_of(const DependencyGraph& graph, const RangeTree& tree, ActivityIndex i);

/// Work launched by itself has the path of its origin. A replayed node has the op in which it was
/// captured, as if the program had launched it there and then:
/// - where the capture's path begins with the path of the range that replays ("decode" replays what
///   "decode/layer/attention" captured), or nothing is open at the launch: the capture's path;
/// - else the path of the range that replays, and below it that part of the capture's path that
/// lies
///   inside the ranges around the whole captured graph ("decode" replays what "warm-up/capture/
///   layer/attention" captured: "decode/layer/attention"). A graph captured within a single range
///   keeps that range's name.
/// Without a recorded capture a node has the path of the range that replays.
///
/// Work that no range is around, neither at its launch nor at its capture, has the path that its
/// call stack spells (function_ops.hpp), where one was recorded: that of the capture for a node.
///
/// Path ids below RangeTree::path_count() are that tree's; more are added behind them.
class OpPaths {
 public:
  static constexpr std::uint32_t kNone = RangeTree::kNoPath;

  OpPaths(const DependencyGraph& graph, const RangeTree& tree);

  /// The path of GPU work; kNone: no op is known.
  std::uint32_t of(ActivityIndex i) const;

  /// The same without its innermost name; kNone for an outermost one.
  std::uint32_t parent(std::uint32_t path) const;

  /// As RangeTree::path_text.
  std::string text(std::uint32_t path) const;

  std::uint32_t count() const {
    return tree_.path_count() + static_cast<std::uint32_t>(added_.size());
  }

  /// Whether a path is of function names and not of ranges.
  bool from_functions(std::uint32_t path) const;

  /// Whether the work has the path of where its node was captured, not that of its launch.
  bool captured(ActivityIndex i) const { return captured_in(i) != profile::kNoRow; }

 private:
  using Name = std::pair<std::uint32_t, profile::StringId>;  // of a path: the path above, a name

  profile::RowIndex captured_in(ActivityIndex i) const;
  void find_replayed();
  void find_stacks();
  std::uint32_t spelled(ActivityIndex i) const;
  std::uint32_t spell(profile::RowIndex frame, profile::StringId kernel);
  profile::RowIndex frame_of(ActivityIndex i) const;
  std::string_view name_text(profile::StringId name) const;
  void find_whole_graphs();
  std::uint32_t replayed(profile::RowIndex capture, std::uint32_t launch_path,
                         profile::RowIndex whole_graph);
  std::uint32_t child(std::uint32_t parent, profile::StringId name);

  const DependencyGraph& graph_;
  const RangeTree& tree_;
  std::vector<profile::RowIndex> whole_graph_;  // by graph node: innermost range around its graph
  std::vector<Name> added_;
  std::map<Name, std::uint32_t> ids_;  // of the paths added, and of those below which some were
  std::map<std::pair<profile::RowIndex, std::uint32_t>, std::uint32_t> replayed_;

  // Names of functions have ids behind those of the trace's strings.
  std::vector<std::string> functions_;
  std::map<std::string, profile::StringId, std::less<>> function_ids_;
  std::vector<profile::RowIndex> frame_of_call_;  // by call; empty: no call stacks
  std::vector<profile::RowIndex> frame_of_node_;
  std::map<std::pair<profile::RowIndex, profile::StringId>, std::uint32_t>
      spelled_;  // by frame and kernel
};

}  // namespace gprofml::analysis
