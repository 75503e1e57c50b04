// From Kineto events to a Trace.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libprofile/import/kineto_header.hpp"
#include "libprofile/import/window_parser.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Words used as pid or tid count down from here.
inline constexpr std::int64_t kFirstNamedId = -1'000'000'000'000;

/// Collects the events of one file and makes a canonical Trace of them. Nothing depends on the
/// order of the events except `sequence`; whatever needs the whole file (the base of time, which
/// call launched what, names of threads) waits for `finish`.
///
/// Kept: GPU work, API calls, ops, annotations, Python frames, synchronisations, memory events.
/// Counted by category, not kept: everything else (quality code "ignored_category").
///
/// An event with ts = 0 and dur = 0 has no time stamp and keeps start = end = 0. GPU work with
/// ts = 0 and a duration, in a file whose other GPU work starts more than 1000 s later, lost its
/// stamp too: CUPTI zeroes the start alone when it sees the end only. It becomes start = end = 0
/// (quality code "lost_start").
class KinetoBuilder : public EventSink {
 public:
  explicit KinetoBuilder(std::string_view source_name);

  std::string_view take(const KinetoEvent& event) override;
  void bad(std::uint64_t byte, std::string_view reason) override;
  void repaired() override { ++repaired_; }

  /// Makes room for `share` times as many rows as there are, now that this part of the file has
  /// been read. Memory that is reserved but never filled is never touched.
  void expect(double share);

  /// Events taken, whether kept or only counted.
  std::uint64_t taken() const { return taken_; }
  std::uint64_t bad_events() const { return bad_; }

  /// `cut_off`: where and why the file ended early; empty: it did not.
  Trace finish(const KinetoHeader& header, std::string_view cut_off);

 private:
  enum class Category {
    none,
    kernel,
    copy,
    fill,
    runtime,
    driver,
    op,
    annotation,
    python_function,
    sync
  };
  struct Interval {
    Nanoseconds start_ns = 0;
    Nanoseconds end_ns = 0;
  };
  /// What a synchronisation says of devices and streams, looked up when all are known.
  struct SyncPlace {
    std::int64_t device, context, stream, event_stream;
  };
  struct StreamKey {
    std::int64_t device, context, stream;
    auto operator<=>(const StreamKey&) const = default;
  };
  struct ThreadKey {
    std::int64_t pid, tid;
    auto operator<=>(const ThreadKey&) const = default;
  };

  Category category_of(std::string_view token);

  std::string_view take_interval(const KinetoEvent& event, Category category);
  void take_instant(const KinetoEvent& event);
  void take_metadata(const KinetoEvent& event);
  void ignore(const KinetoEvent& event);
  void take_kernel(const KinetoEvent& event, Interval when);
  void take_copy(const KinetoEvent& event, Interval when);
  void take_fill(const KinetoEvent& event, Interval when);
  void take_call(const KinetoEvent& event, Interval when, ApiKind kind);
  void take_range(const KinetoEvent& event, Interval when, RangeKind kind);
  void take_sync(const KinetoEvent& event, Interval when);
  void take_collective(const KinetoEvent& event);
  void take_activity(const KinetoEvent& event, Interval when, ActivityColumns& activities,
                     std::vector<std::int64_t>& external_ids);

  StringId text_of(std::string_view token);
  std::int64_t id_of(std::string_view token);
  RowIndex thread_of(const KinetoEvent& event);
  RowIndex stream_of(const KinetoEvent& event);
  RowIndex launch_config_of(const KinetoEvent& event);
  RowIndex graph_node_of(const KinetoEvent& event);
  RowIndex device_row(std::int64_t ordinal);
  RowIndex stream_row(const StreamKey& key);

  void note(std::string_view code, std::int64_t count, std::string_view detail);
  void number_named_ids();
  void drop_lost_starts();
  void add_base(Nanoseconds base);
  void place_syncs();
  void place_memory_events();
  void link_ops();
  void describe_process(const KinetoHeader& header);
  void describe_devices(const KinetoHeader& header);
  void report_quality(const KinetoHeader& header, std::string_view cut_off);

  Trace trace_;
  std::uint64_t taken_ = 0;
  std::uint32_t sequence_ = 0;

  // Beside the columns of the trace, one entry a row.
  std::vector<std::int64_t> kernel_external_, copy_external_, fill_external_;
  std::vector<SyncPlace> sync_places_;
  std::vector<std::int64_t> record_correlation_;
  std::vector<std::int64_t> memory_device_;

  std::map<ThreadKey, RowIndex> threads_;
  std::string last_pid_, last_tid_;  // tokens of last_thread_
  RowIndex last_thread_ = kNoRow;
  std::map<StreamKey, RowIndex> streams_;
  StreamKey last_stream_key_{};
  RowIndex last_stream_ = kNoRow;
  std::map<std::int64_t, RowIndex> devices_;
  std::map<std::pair<std::int64_t, std::int64_t>, RowIndex> contexts_;  // by device, context
  std::map<LaunchConfig, RowIndex> launch_configs_;
  RowIndex last_launch_config_ = kNoRow;
  std::map<std::pair<std::int64_t, std::int64_t>, RowIndex> graph_nodes_;

  std::map<std::string, std::int64_t, std::less<>> named_ids_;  // pids and tids that are words
  std::map<ThreadKey, std::string> thread_names_;
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::string, std::int64_t, std::less<>> ignored_;  // events by category
  std::pair<const std::string, std::int64_t>* last_ignored_ = nullptr;
  std::string scratch_;
  std::string last_category_text_;
  Category last_category_ = Category::none;
  /// Names met lately, by a few of their bytes: a trace repeats them by the thousand.
  struct KnownName {
    std::string_view text;
    StringId id = 0;
  };
  std::vector<KnownName> known_names_;

  std::uint64_t bad_ = 0;
  std::uint64_t first_bad_byte_ = 0;
  std::string first_bad_reason_;
  std::uint64_t repaired_ = 0;
};

}  // namespace gprofml::profile
