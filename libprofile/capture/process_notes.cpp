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
  explicit Notes(Trace& trace) : trace_(trace) {}

  void add(std::string_view code, std::uint64_t count, std::string_view detail) {
    if (count == 0) return;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    trace_.quality.push_back({0, trace_.intern(code),
                              static_cast<std::int64_t>(std::min(count, kMost)),
                              trace_.intern(detail)});
  }
  void add(std::string_view code, std::int64_t count, std::string_view detail) {
    add(code, static_cast<std::uint64_t>(std::max<std::int64_t>(count, 0)), detail);
  }

 private:
  Trace& trace_;
};

void add_losses(const spool::Status& status, Notes& notes) {
  notes.add("dropped_records", status.cupti_dropped, "CUPTI dropped records");
  notes.add("discarded_records", status.discarded,
            "records were discarded because no buffer was free");
  notes.add("ranges_lost", status.ranges_lost,
            "NVTX events were discarded because they came faster than they could be written");
  notes.add("unknown_records", status.unknown_records,
            "CUPTI records of kinds that this version does not know");
  notes.add("incomplete_records", status.incomplete_records,
            "GPU work that had not ended when it was handed over");
}

void add_end(const ProcessFacts& facts, const RecordedProcess& process, const std::string& damage,
             Notes& notes) {
  const std::string last = moment_text(process.last_written_ns);
  switch (process.end) {
    case SpoolEnd::orderly:
      break;
    case SpoolEnd::abrupt:
      notes.add(
          "ended_abruptly", std::uint64_t{1},
          process.last_written_ns == 0
              ? std::string("the process ended before anything was written")
              : fmt::format("the process was killed or replaced itself; written up to {}", last));
      break;
    case SpoolEnd::still_running:
      notes.add("still_running", std::uint64_t{1},
                fmt::format("the process was still recording; read up to {}", last));
      break;
    case SpoolEnd::damaged:
      notes.add("damaged_spool", process.lost_bytes,
                fmt::format("read up to byte {}, where {}; the bytes behind are lost",
                            process.bytes - process.lost_bytes, damage));
      break;
  }
  if (facts.end_reason == spool::EndReason::write_failed) {
    notes.add("write_failed", std::uint64_t{1}, "the recorder could not write any more");
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

void add_process_notes(const ProcessFacts& facts, const RecordedProcess& process,
                       const std::string& damage, Trace& trace) {
  Notes notes(trace);
  add_losses(facts.status, notes);
  add_end(facts, process, damage, notes);
  add_reason("cuda_not_recorded", process.cuda, notes);
  add_reason("nvtx_not_recorded", process.nvtx, notes);
  notes.add("open_ranges", facts.open_ranges,
            "NVTX ranges that no pop or end closed; they end with the last record");
  notes.add("unopened_range_ends", facts.unopened_ends,
            "NVTX pops and ends of ranges that were not open");
  notes.add("bad_times", facts.bad_times, "records that end before they start");
  notes.add("missing_names", facts.missing_names, "names or launch configurations never written");
  notes.add("unplaced_records", facts.unplaced_records,
            "streams and events of contexts that no record describes");
  notes.add("malformed_records", facts.malformed_records, "spool records of impossible lengths");
  notes.add("unknown_spool_records", facts.unknown_records,
            "spool records of kinds that this version does not know");
  // On the simulated GPU time is a model's: the machine's clocks do not matter.
  if (facts.fact("simulated") != "1") {
    notes.add("clock_step", facts.clock_steps,
              fmt::format("the system's clock was set while recording, by up to {} us",
                          facts.largest_clock_step_ns / 1000));
  }
  for (const auto& [note, count] : facts.notes) notes.add(note.first, count, note.second);
}

}  // namespace gprofml::profile
