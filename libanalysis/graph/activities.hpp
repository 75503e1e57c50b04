// All work on GPUs in one time-ordered table, with what its order on streams implies.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "libanalysis/graph/time_class.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// Index into Activities.
using ActivityIndex = std::uint32_t;
inline constexpr ActivityIndex kNoActivity = profile::kNoRow;

enum class WorkKind : std::uint8_t { kernel, communication, copy, fill, cuda_graph };

/// The class of a path segment in which such work runs.
TimeClass time_class_of(WorkKind kind);

/// Kernels, copies, fills and whole CUDA graphs that have a time stamp, as columns, in the one
/// order that all analyses share: (start, end, stream id, position in the source). An edge between
/// activities always leads to a later one in this order, so every walk backwards ends.
class Activities {
 public:
  explicit Activities(const profile::Trace& trace);

  std::size_t size() const { return start_ns.size(); }

  std::vector<profile::Nanoseconds> start_ns;
  std::vector<profile::Nanoseconds> end_ns;  ///< as recorded
  /// An activity that ends more than 1 us after its stream successor's end, outside one graph
  /// launch, cannot have run so long: here it ends at the successor's start. Else = end_ns.
  std::vector<profile::Nanoseconds> corrected_end_ns;
  std::vector<WorkKind> kind;
  std::vector<profile::RowIndex> row;     ///< in the table that `kind` says
  std::vector<profile::RowIndex> stream;  ///< row of Trace::streams
  std::vector<profile::RowIndex> device;
  std::vector<profile::RowIndex> process;
  std::vector<profile::RowIndex> call;            ///< its launch; kNoRow: unlinked
  std::vector<ActivityIndex> stream_predecessor;  ///< the one before on its stream
  std::int64_t overruns = 0;                      ///< corrected ends
  std::int64_t no_timestamp = 0;                  ///< records left out: start = end = 0

  /// The activities of an API call, in order. Several for a graph launch.
  std::span<const ActivityIndex> work_of_call(profile::RowIndex call_row) const {
    return {by_call_.data() + first_of_call_[call_row],
            by_call_.data() + first_of_call_[call_row + 1]};
  }

  /// The activities of a stream, in order.
  std::span<const ActivityIndex> work_of_stream(profile::RowIndex stream_row) const {
    return {by_stream_.data() + first_of_stream_[stream_row],
            by_stream_.data() + first_of_stream_[stream_row + 1]};
  }

  bool linked(ActivityIndex i) const { return call[i] != profile::kNoRow; }

  /// Whether two activities belong to one launch (of a graph).
  bool same_launch(ActivityIndex a, ActivityIndex b) const {
    return linked(a) && call[a] == call[b];
  }

  /// The table in which `row[i]` lies.
  const profile::ActivityColumns& columns(const profile::Trace& trace, ActivityIndex i) const;
  std::string_view name(const profile::Trace& trace, ActivityIndex i) const;

 private:
  void collect(const profile::Trace& trace);
  void group_by_call_and_stream(const profile::Trace& trace);
  void correct_overruns(const profile::Trace& trace);

  std::vector<ActivityIndex> by_call_;
  std::vector<std::uint32_t> first_of_call_;
  std::vector<ActivityIndex> by_stream_;
  std::vector<std::uint32_t> first_of_stream_;
};

}  // namespace gprofml::analysis
