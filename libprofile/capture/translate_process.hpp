// From the records of one process's spool to a Trace of one process.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libprofile/capture/call_stacks.hpp"
#include "libprofile/capture/graph_nodes.hpp"
#include "libprofile/capture/id_map.hpp"
#include "libprofile/capture/nvtx_counters.hpp"
#include "libprofile/capture/nvtx_payload.hpp"
#include "libprofile/capture/nvtx_ranges.hpp"
#include "libprofile/capture/record_counts.hpp"
#include "libprofile/spool/format.hpp"
#include "libprofile/spool/reader.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// What records say beside events; the merge turns it into quality notes and meta.
struct ProcessFacts {
  std::map<std::string, std::string> facts;  ///< by key; the last value of each
  std::map<std::pair<std::string, std::string>, std::uint64_t> notes;  ///< by code and detail
  spool::Status status{};                                              ///< the last one
  spool::Cost cost{};                                                  ///< the last one
  spool::EndReason end_reason{};                                       ///< 0: no End record
  std::int64_t clock_steps = 0;  ///< CLOCK_REALTIME was set by more than 1 ms
  Nanoseconds largest_clock_step_ns = 0;
  std::int64_t unknown_records = 0;    ///< of kinds that this reader does not know
  std::int64_t malformed_records = 0;  ///< shorter than their kind, or of lengths without sense
  std::int64_t missing_names = 0;      ///< dictionary entries used but never written
  std::int64_t bad_times = 0;          ///< ends before starts
  std::int64_t unplaced_records = 0;   ///< of contexts that no record puts on a device
  std::int64_t undecoded_values = 0;   ///< of NVTX payloads and counters
  std::int64_t open_ranges = 0;
  std::int64_t unopened_ends = 0;
  bool is_windowed = false;  ///< only windows were recorded
  std::int64_t windows = 0;
  std::int64_t work_outside_windows = 0;  ///< kept by the recorder to be sure, and left out here
  std::int64_t conditional_nodes = 0;    ///< of CUDA graphs
  std::int64_t unknown_graph_nodes = 0;  ///< that ran; no record tells of their making
  Nanoseconds last_ns = 0;  ///< the last moment any record tells of

  /// The value of a fact, empty when it was not said.
  std::string fact(const std::string& key) const;
};

/// Takes the records of a spool in their order. The trace has one process, row 0, whose `source` is
/// the spool's name. Records may name devices, contexts and streams before those are described.
class ProcessTranslator {
 public:
  ProcessTranslator(const std::string& spool_name, const spool::FileHeader& header);
  ProcessTranslator(const ProcessTranslator&) = delete;
  ProcessTranslator& operator=(const ProcessTranslator&) = delete;

  /// Names for code made at run time: a map as perf reads them. Before the first record.
  void use_perf_map(const std::string& path) { stacks_.use_perf_map(path); }

  /// Makes room for what is to come. Before the first record.
  void expect(const RecordCounts& counts) { reserve_rows(counts, trace_); }

  /// Takes all records of a chunk.
  void take(RecordCursor records);

  /// Leaves out what belongs to windows of a lower index, and to windows that are not complete.
  /// Before `finish`.
  void choose_windows(std::uint32_t first, bool complete_only) {
    first_window_ = first;
    complete_windows_only_ = complete_only;
  }

  /// Segments follow the spool. Before the first record.
  void expect_segments() { ranges_.are_told_again(true); }

  /// Joins what needs the whole file: correlations, events, ranges, graph nodes. Not canonical.
  Trace finish();

  const ProcessFacts& facts() const { return facts_; }

 private:
  template <typename Record>
  void pass(const RecordView& view, void (ProcessTranslator::*handle)(const Record&));
  void take(const RecordView& view);

  // dictionaries and facts
  void take_fact(const RecordView& view);
  void take_stack(const RecordView& view);
  void take_string(const RecordView& view);
  void take(const spool::LaunchConfig& record);
  void take(const spool::Thread& record);
  void take(const spool::Module& record);
  void take(const spool::Domain& record);
  void take(const spool::Note& record);
  void take(const spool::Status& record);
  void take(const spool::End& record);
  void take(const spool::Cost& record);
  void take(const spool::Window& record);
  void take(const spool::CaptureEvent& record);
  void take(const spool::Segment& record);
  void keep_windows();
  void keep_last();
  void see_the_end();
  bool is_on_the_systems_clock() const;
  Nanoseconds kept_from();

  // where work runs
  void take(const spool::Device& record);
  void take(const spool::Context& record);
  void take(const spool::Stream& record);
  void take(const spool::Place& record);

  // what happened
  void take(const spool::Kernel& record);
  void take(const spool::ShortKernel& record);
  void take(const spool::Copy& record);
  void take(const spool::Fill& record);
  void take(const spool::GraphLaunch& record);
  void take(const spool::ApiCall& record);
  void take(const spool::Sync& record);
  void take(const spool::CudaEvent& record);
  void take(const spool::Overhead& record);
  void take(const spool::MemoryEvent& record);
  void take(const spool::MemoryPool& record);
  void take(const spool::UnifiedMemory& record);
  void take(const spool::GraphNode& record);
  void take(const spool::GraphEdge& record);
  void take(const spool::CallStack& record);
  void take_push(const RecordView& view);
  void take_mark(const RecordView& view);
  void take(const spool::RangePop& record);
  void take_start(const RecordView& view);
  void take(const spool::RangeEnd& record);
  void take(const spool::Category& record);
  void take_schema(const RecordView& view);
  void take(const spool::Counter& record);
  void take_payload(const RecordView& view);
  void take_sample(const RecordView& view);

  template <typename Record>
  void add_activity(ActivityColumns& work, const Record& record, StringId name);

  StringId name_of(std::uint32_t string);
  StringId kernel_name_of(std::uint32_t string);
  StringId call_name_of(std::uint32_t string);
  RowIndex thread_row(std::uint32_t tid);
  RowIndex device_row(std::uint32_t id);
  RowIndex context_row(std::uint32_t id, RowIndex device);
  RowIndex stream_row(std::uint32_t context, std::uint32_t id, std::uint32_t device);
  NvtxRanges::Place place_of(std::uint32_t tid, std::uint32_t domain);
  StringId domain_name_of(std::uint32_t domain);
  template <typename Record>
  NvtxRanges::Beginning beginning_of(const RecordView& view, const Record& record);
  void saw(Nanoseconds time_ns);

  void describe_process();
  void place_contexts();
  void place_streams();
  void place_syncs();
  void place_cuda_events();
  void join_events();
  void fill_in_freed_bytes();
  RowIndex device_known_as(std::uint32_t id);
  RowIndex stream_known_as(std::uint32_t context, std::uint32_t id);

  struct SyncPlace {
    std::uint32_t context;
    std::uint32_t stream;
    std::uint64_t event_sync;
  };

  std::uint32_t pid_;
  bool is_windowed_ = false;  ///< only what is in windows is recorded
  Nanoseconds keep_last_ns_ = 0;                ///< 0: everything is kept
  std::optional<spool::Segment> first_segment_;  ///< of those that are there
  bool is_repeated_ = false;  ///< what comes stands in the segment before too
  std::uint32_t first_window_ = 0;
  bool complete_windows_only_ = false;
  std::map<std::uint32_t, spool::Window> windows_;  // by index, as last said
  Trace trace_;
  ProcessFacts facts_;
  NvtxRanges ranges_;
  PayloadLayouts layouts_;
  NvtxCounters counters_{trace_, layouts_};
  std::vector<PayloadValue> payload_values_;  // of one payload
  GraphNodes graphs_;
  CallStacks stacks_;

  IdMap strings_, kernel_names_, call_names_, configs_, threads_, domains_, devices_;
  std::unordered_map<std::uint32_t, StringId> copy_names_, overhead_names_;
  std::unordered_map<std::uint32_t, RowIndex> contexts_;
  std::unordered_map<std::uint64_t, RowIndex> streams_;  // by context and stream id
  std::map<std::uint32_t, spool::Context> described_contexts_;
  std::map<std::uint64_t, spool::Stream> described_streams_;
  std::vector<SyncPlace> sync_places_;                 // beside Trace::syncs
  std::vector<spool::CudaEvent> cuda_events_;          // as recorded
  std::vector<std::uint64_t> event_sync_of_event_;     // beside Trace::cuda_events
  std::vector<std::uint64_t> context_event_of_event_;  // the same: context and event id
  IdMap place_ids_;                                    // rows of places_
  std::vector<spool::Place> places_;
  std::uint64_t last_stream_key_ = 0;
  RowIndex last_stream_ = kNoRow;
};

}  // namespace gprofml::profile
