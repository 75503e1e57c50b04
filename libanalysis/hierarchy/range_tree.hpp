// Which named ranges enclose which: the op tree of every host thread.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Nesting of ops, annotations, push/pop and start/end ranges on their threads. A range is a child
/// of the innermost one that was open when it started, even when it ends later than that one
/// (clocks of 1 us and framework scopes do that). Start/end ranges take part where they nest: one
/// that overlaps another range of its thread without holding it or lying in it (requests in flight
/// do that) is left out, and so are those of no length (marks). Python frames do not nest with the
/// others and are left out, and so are step marks (ProfilerStep#n): they name a time, not an op.
/// What lies deeper than kDeepest ranges belongs to the innermost one above.
class RangeTree {
 public:
  /// Deepest nesting that is followed. Real programs stay far below; without a bound a hostile file
  /// of n nested ranges would have paths of n² bytes.
  static constexpr std::size_t kDeepest = 100;
  static constexpr std::uint32_t kNoPath = std::numeric_limits<std::uint32_t>::max();

  explicit RangeTree(const profile::Trace& trace);

  /// Whether a range takes part.
  bool contains(profile::RowIndex range) const { return included_[range]; }

  /// The enclosing range; kNoRow for an outermost one.
  profile::RowIndex parent(profile::RowIndex range) const { return parent_[range]; }

  /// The innermost range open on a thread at an instant; kNoRow: none.
  profile::RowIndex innermost(profile::RowIndex thread, profile::Nanoseconds t_ns) const;

  /// From when on the answer of `innermost` before `t_ns` holds: the last change of the innermost
  /// range on the thread before `t_ns`, or the earliest time there is.
  profile::Nanoseconds last_change_before(profile::RowIndex thread,
                                          profile::Nanoseconds t_ns) const;

  /// Names from the outermost range inwards, joined by '/'. A '/' inside a name is written '∕'.
  std::string path(profile::RowIndex range) const;

  /// An id that equal paths share; dense from 0.
  std::uint32_t path_id(profile::RowIndex range) const { return path_id_[range]; }
  std::uint32_t path_count() const { return static_cast<std::uint32_t>(path_names_.size()); }

  /// The path behind an id.
  std::string path_text(std::uint32_t id) const;

  /// The path without its innermost name, kNoPath where it has only one, and that name.
  std::uint32_t path_parent(std::uint32_t id) const { return path_names_[id].parent; }
  profile::StringId path_name(std::uint32_t id) const { return path_names_[id].name; }

  /// A name as it stands in a path.
  static std::string path_part(std::string_view name);

 private:
  struct Change {
    profile::Nanoseconds at_ns;
    profile::RowIndex innermost;
  };
  struct PathName {
    std::uint32_t parent;
    profile::StringId name;
  };

  void leave_out_crossing(const std::vector<profile::RowIndex>& ranges);
  void nest(const std::vector<profile::RowIndex>& ranges, std::vector<Change>& changes);
  void number_paths(const std::vector<profile::RowIndex>& ranges);

  const profile::Trace& trace_;
  std::vector<bool> included_;
  std::vector<profile::RowIndex> parent_;
  std::vector<std::uint32_t> path_id_;
  std::vector<PathName> path_names_;
  std::vector<std::vector<Change>> changes_;  // a thread's changes of the innermost range, by time
};

}  // namespace gprofml::analysis
