#include "libprofile/capture/process_notes.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <limits>

namespace gprofml::profile {
namespace {

constexpr const char* kRecorded = "recorded";

class Notes {
 public:
  Notes(std::int64_t pid, Trace& trace) : who_(fmt::format("pid {}", pid)), trace_(trace) {}

  /// Readers see these among those of other processes, so each names its own. `detail` goes on
  /// behind "pid 123: ".
  void add(std::string_view code, std::uint64_t count, std::string_view detail) {
    say(code, count, fmt::format("{}: {}", who_, detail));
  }
  void add(std::string_view code, std::int64_t count, std::string_view detail) {
    add(code, static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)), detail);
  }
  /// `sentence` goes on behind "pid 123 ".
  void add_sentence(std::string_view code, std::string_view sentence) {
    say(code, 1, fmt::format("{} {}", who_, sentence));
  }

 private:
  void say(std::string_view code, std::uint64_t count, const std::string& text) {
    if (count == 0) return;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    trace_.quality.push_back({0, trace_.intern(code),
                              static_cast<std::int64_t>(std::min(count, kMost)),
                              trace_.intern(text)});
  }

  std::string who_;
  Trace& trace_;
};

/// "3 records", "1 record".
std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

void add_losses(const spool::Status& s, Notes& notes) {
  notes.add("dropped_records", s.cupti_dropped,
            fmt::format("CUPTI dropped {}", counted(s.cupti_dropped, "record")));
  notes.add("discarded_records", s.discarded,
            fmt::format("{} discarded because no buffer was free", counted(s.discarded, "record")));
  notes.add("ranges_lost", s.ranges_lost,
            fmt::format("{} discarded: they came faster than they could be written",
                        counted(s.ranges_lost, "NVTX event")));
  notes.add("unknown_records", s.unknown_records,
            fmt::format("{} of kinds that this version does not know",
                        counted(s.unknown_records, "CUPTI record")));
  notes.add("incomplete_records", s.incomplete_records,
            fmt::format("{} of GPU work that had not ended when handed over; what stood behind in "
                        "the same buffers could not be read",
                        counted(s.incomplete_records, "record")));
}

/// What the spool holds that cannot be taken as it is.
void add_doubts(const ProcessFacts& facts, Notes& notes) {
  const auto add = [&](std::string_view code, std::int64_t count, std::string_view what,
                       std::string_view more) {
    notes.add(code, count,
              fmt::format("{} {}", counted(static_cast<std::uint64_t>(count), what), more));
  };
  add("open_ranges", facts.open_ranges, "NVTX range",
      "not closed by the end: taken to end with the last record");
  add("unopened_range_ends", facts.unopened_ends, "NVTX range end", "of ranges that were not open");
  add("undecoded_values", facts.undecoded_values, "value",
      "of NVTX payloads and counters of layouts that are not known, not supported or contradict "
      "themselves");
  add("bad_times", facts.bad_times, "record", "that would end before they start");
  add("missing_names", facts.missing_names, "name",
      "(or launch configurations) used but never written");
  add("unplaced_records", facts.unplaced_records, "record",
      "of streams and events of contexts that no record describes");
  add("conditional_nodes", facts.conditional_nodes, "conditional node",
      "in CUDA graphs: CUPTI need not tell of each iteration of what they hold");
  add("unknown_graph_nodes", facts.unknown_graph_nodes, "graph node",
      "made where no record tells of it (before the recording began?): the ops of their work are "
      "not known");
  add("malformed_records", facts.malformed_records, "spool record", "of impossible length");
  add("unknown_spool_records", facts.unknown_records, "spool record",
      "of kinds that this version does not know");
}

/// The recorder notes itself why, if that still could be written.
void add_write_failure(const ProcessFacts& facts, Notes& notes) {
  const bool noted = std::any_of(facts.notes.begin(), facts.notes.end(), [](const auto& note) {
    return note.first.first == "write_failed";
  });
  if (!noted) notes.add_sentence("write_failed", "could not write any more of what it recorded");
}

void add_end(const ProcessFacts& facts, const RecordedProcess& process, const std::string& damage,
             Notes& notes) {
  const std::string last = moment_text(process.last_written_ns);
  switch (process.end) {
    case SpoolEnd::orderly:
      break;
    case SpoolEnd::abrupt:
      notes.add_sentence(
          "ended_abruptly",
          process.last_written_ns == 0
              ? std::string("ended before anything was written")
              : fmt::format("was killed, replaced itself, ended by _exit or took the recorder's "
                            "file away; written up to {}",
                            last));
      break;
    case SpoolEnd::write_failed:
      add_write_failure(facts, notes);
      break;
    case SpoolEnd::still_running:
      notes.add_sentence("still_running", fmt::format("was still recording; read up to {}", last));
      break;
    case SpoolEnd::damaged:
      notes.add("damaged_spool", process.lost_bytes,
                fmt::format("read up to byte {}, where {}; the {} behind it are lost",
                            process.bytes - process.lost_bytes, damage,
                            counted(process.lost_bytes, "byte")));
      break;
  }
}

void add_reason(std::string_view code, const std::string& state, Notes& notes) {
  if (!state.empty() && state != kRecorded) notes.add(code, std::uint64_t{1}, state);
}

}  // namespace

std::string moment_text(Nanoseconds since_epoch_ns) {
  constexpr Nanoseconds kSecond = 1'000'000'000;
  Nanoseconds seconds = since_epoch_ns / kSecond;
  Nanoseconds rest = since_epoch_ns % kSecond;
  if (rest < 0) {
    rest += kSecond;
    --seconds;
  }
  const time_t when = seconds;
  struct tm utc {};
  gmtime_r(&when, &utc);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}.{:03} UTC", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     rest / 1'000'000);
}

namespace {

/// When on the recording's own clock what the recorder did to itself took place: at the last moment
/// that it tells of.
void add_capture_events(const ProcessFacts& facts, Trace& trace) {
  for (const auto& [note, count] : facts.notes) {
    if (note.first != "size_limit") continue;
    trace.capture_events.time_ns.push_back(facts.last_ns);
    trace.capture_events.process.push_back(0);
    trace.capture_events.kind.push_back(trace.intern(note.first));
    trace.capture_events.detail.push_back(trace.intern(note.second));
    trace.capture_events.value.push_back(kUnknown);
  }
}

}  // namespace

void add_process_notes(const ProcessFacts& facts, const RecordedProcess& process,
                       const std::string& damage, Trace& trace) {
  Notes notes(process.pid, trace);
  add_losses(facts.status, notes);
  add_end(facts, process, damage, notes);
  add_reason("cuda_not_recorded", process.cuda, notes);
  add_reason("nvtx_not_recorded", process.nvtx, notes);
  add_doubts(facts, notes);
  if (facts.is_windowed && facts.windows == 0) {
    notes.add("no_window", std::uint64_t{1}, "no window opened, so nothing was recorded");
  }
  notes.add("outside_window", facts.work_outside_windows,
            fmt::format("{} of GPU work launched outside of windows left out",
                        counted(static_cast<std::uint64_t>(facts.work_outside_windows), "record")));
  // On the simulated GPU time is a model's: the machine's clocks do not matter.
  if (facts.fact("simulated") != "1") {
    notes.add("clock_step", facts.clock_steps,
              fmt::format("the system's clock was set while recording, by up to {} us",
                          facts.largest_clock_step_ns / 1000));
  }
  for (const auto& [note, count] : facts.notes) notes.add(note.first, count, note.second);
  add_capture_events(facts, trace);
}

}  // namespace gprofml::profile
