#include "libprofile/capture/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "libprofile/capture/machine/read_machine.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/process_notes.hpp"
#include "libprofile/capture/recording.hpp"
#include "libprofile/capture/segments.hpp"
#include "libprofile/capture/translate_process.hpp"
#include "libprofile/spool/reader.hpp"

namespace gprofml::profile {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".spool";

/// A process as its spool told it.
struct MergedProcess {
  RecordedProcess process;
  std::map<std::string, std::string> facts;
  spool::Status status;
  Nanoseconds start_ns = 0;
};

class Progress {
 public:
  Progress(const std::vector<std::string>& paths, const MergeOptions& options) : options_(options) {
    for (const std::string& path : paths) {
      std::error_code ignored;
      const std::uintmax_t bytes = fs::file_size(path, ignored);
      if (!ignored) all_ += bytes;
    }
  }

  void file_done(std::uint64_t bytes) { report(before_ += bytes); }
  void in_file(std::uint64_t bytes) { report(before_ + bytes); }

 private:
  void report(std::uint64_t bytes) const {
    if (options_.progress) options_.progress(std::min(bytes, all_), all_);
  }

  const MergeOptions& options_;
  std::uint64_t before_ = 0;
  std::uint64_t all_ = 0;
};

SpoolEnd end_of(SpoolReader::End read_to, bool in_use, const ProcessFacts& facts) {
  if (read_to == SpoolReader::End::damaged) return SpoolEnd::damaged;
  const bool orderly = facts.end_reason == spool::EndReason::exit_handler ||
                       facts.end_reason == spool::EndReason::stopped;
  if (orderly) return SpoolEnd::orderly;
  if (facts.end_reason == spool::EndReason::write_failed) return SpoolEnd::write_failed;
  return in_use ? SpoolEnd::still_running : SpoolEnd::abrupt;
}

Nanoseconds as_time(std::uint64_t ns) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Nanoseconds>::max() / 8);
  return static_cast<Nanoseconds>(std::min(ns, kMost));  // the file may say anything
}

/// The simulator's virtual clock runs as it likes; what CUPTI says of itself is on it then.
bool is_on_the_systems_clock(const spool::Status& status) {
  constexpr std::uint64_t kHourNs = 3'600'000'000'000;
  const auto apart = static_cast<std::uint64_t>(status.cupti_ns) -
                     static_cast<std::uint64_t>(status.realtime_ns) + kHourNs;
  return status.cupti_ns == 0 || apart < 2 * kHourNs;
}

RecordingCost cost_of(const spool::Cost& cost, const spool::Status& status) {
  RecordingCost read;
  read.wall_ns = as_time(cost.wall_ns);
  read.callback_ns = as_time(cost.callback_ns);
  read.own_cpu_ns = as_time(cost.writer_cpu_ns) + as_time(cost.flusher_cpu_ns);
  if (is_on_the_systems_clock(status)) read.cupti_ns = as_time(cost.cupti_ns);
  return read;
}

/// Reads one spool; its trace has one process. Throws SpoolError.
std::pair<Trace, MergedProcess> read_spool(const std::string& path, const MergeOptions& options,
                                           Progress& progress) {
  Segments segments = open_segments(path);
  SpoolReader reader(path);
  const std::string name = fs::path(path).filename().string();
  ProcessTranslator translator(name, reader.header());
  translator.expect(count_records(path));
  translator.use_perf_map(
      (fs::path(path).parent_path() / perf_map_name(reader.header().pid)).string());
  if (options.complete_windows_from) {
    const auto first = options.complete_windows_from->find(reader.header().pid);
    translator.choose_windows(first == options.complete_windows_from->end() ? 0 : first->second,
                              true);
  }
  MergedProcess merged;
  RecordedProcess& process = merged.process;
  if (!segments.readers.empty()) translator.expect_segments();
  const auto take_all = [&](SpoolReader& from) {
    while (from.next_chunk()) {
      process.last_written_ns = std::max(process.last_written_ns, from.written_ns());
      translator.take(from.records());
      progress.in_file(process.bytes + from.position());
    }
    process.bytes += from.file_bytes();
    process.lost_bytes += from.lost_bytes();
  };
  take_all(reader);
  SpoolReader::End read_to = reader.end();
  std::string damage(reader.damage());
  for (const auto& segment : segments.readers) {
    if (segment->header().nonce != reader.header().nonce) continue;
    take_all(*segment);
    if (segment->end() != SpoolReader::End::damaged) continue;
    read_to = segment->end();
    damage = segment->damage();
  }
  Trace trace = translator.finish();
  for (const std::string& why : segments.unreadable) note_unreadable({why, false}, trace);
  const ProcessFacts& facts = translator.facts();
  process.spool = name;
  process.pid = trace.processes[0].pid;
  process.command = trace.text(trace.processes[0].command);
  process.cuda = facts.fact("cuda");
  process.nvtx = facts.fact("nvtx");
  process.end = end_of(read_to, reader.in_use(), facts);
  process.cost = cost_of(facts.cost, facts.status);
  add_process_notes(facts, process, damage, trace);
  merged.facts = facts.facts;
  merged.status = facts.status;
  merged.start_ns = reader.header().start_ns;
  progress.file_done(process.bytes);
  return {std::move(trace), std::move(merged)};
}

/// A process that started CUDA or NVTX and used neither, and that has no more to say: programs
/// start many of those, to ask how many GPUs there are, say.
bool did_nothing(const Trace& trace, const RecordedProcess& process) {
  const auto is_refused = [](const std::string& state) {
    return !state.empty() && state != "recorded";
  };
  const bool has_ended = process.end == SpoolEnd::orderly || process.end == SpoolEnd::abrupt;
  // One that used CUDA or NVTX and ended abruptly may have lost what it did.
  const bool may_have_lost =
      process.end == SpoolEnd::abrupt && (process.cuda == "recorded" || process.nvtx == "recorded");
  const auto& calls = trace.api_calls.name;
  const auto starts = std::count_if(calls.begin(), calls.end(),
                                    [&](StringId name) { return trace.text(name) == "cuInit"; });
  return record_count(trace) == static_cast<std::size_t>(starts) && has_ended && !may_have_lost &&
         !is_refused(process.cuda) && !is_refused(process.nvtx);
}

/// Numbers the GPU work of each process in the order of time. The order in the spool depends on
/// when buffers were handed over, which two runs of one program do not share.
void number_work(Trace& trace) {
  std::vector<std::uint32_t> next(trace.processes.size(), 0);
  std::array<ActivityColumns*, 4> tables{&trace.kernels, &trace.copies, &trace.fills,
                                         &trace.graph_launches};
  std::array<std::size_t, 4> at{};
  while (true) {
    std::optional<std::size_t> first;
    const auto key = [&](std::size_t t) {
      const ActivityColumns& work = *tables[t];
      return std::tuple(work.start_ns[at[t]], work.end_ns[at[t]], work.stream[at[t]]);
    };
    for (std::size_t t = 0; t < tables.size(); ++t) {
      if (at[t] < tables[t]->size() && (!first || key(t) < key(*first))) first = t;
    }
    if (!first) return;
    ActivityColumns& work = *tables[*first];
    const RowIndex process = trace.process_of_stream(work.stream[at[*first]]);
    work.sequence[at[*first]++] = next[process]++;
  }
}

/// Brings the processes into the order of Trace::processes, which know their spools by name.
std::vector<MergedProcess> in_order_of(const Trace& trace, std::vector<MergedProcess> merged) {
  std::vector<MergedProcess> ordered;
  for (const Process& row : trace.processes) {
    const auto found = std::find_if(merged.begin(), merged.end(), [&](const MergedProcess& m) {
      return m.process.spool == trace.text(row.source);
    });
    ordered.push_back(std::move(*found));
    merged.erase(found);
  }
  return ordered;
}

std::string end_text(SpoolEnd end) {
  switch (end) {
    case SpoolEnd::orderly:
      return "orderly";
    case SpoolEnd::abrupt:
      return "abrupt";
    case SpoolEnd::write_failed:
      return "write_failed";
    case SpoolEnd::still_running:
      return "still_running";
    case SpoolEnd::damaged:
      break;
  }
  return "damaged";
}

/// The facts of a process that say something of the run; which process it is stands in its tables.
std::map<std::string, std::string> facts_for_meta(const MergedProcess& merged) {
  std::map<std::string, std::string> facts = merged.facts;
  for (const char* elsewhere : {"pid", "parent_pid", "host", "command", "simulated", "start_ns"}) {
    facts.erase(elsewhere);
  }
  facts["end"] = end_text(merged.process.end);
  if (merged.status.writer_cpu_ns != 0) {
    facts["writer_cpu_ns"] = std::to_string(merged.status.writer_cpu_ns);
  }
  return facts;
}

/// What all processes agree on stands under its own key, what they do not under "process.ROW.KEY".
void add_process_facts(const std::vector<MergedProcess>& merged, Trace& trace) {
  std::map<std::string, std::set<std::string>> values;
  for (const MergedProcess& process : merged) {
    for (const auto& [key, value] : facts_for_meta(process)) values[key].insert(value);
  }
  for (std::size_t row = 0; row < merged.size(); ++row) {
    for (const auto& [key, value] : facts_for_meta(merged[row])) {
      const bool agreed = values[key].size() == 1;
      trace.meta.emplace(agreed ? key : fmt::format("process.{}.{}", row, key), value);
    }
  }
}

/// Over all processes; the wall time is the longest one's.
void add_cost(const std::vector<MergedProcess>& merged, Trace& trace) {
  RecordingCost sum;
  for (const MergedProcess& process : merged) {
    const RecordingCost& cost = process.process.cost;
    sum.wall_ns = std::max(sum.wall_ns, cost.wall_ns);
    sum.callback_ns += cost.callback_ns;
    sum.own_cpu_ns += cost.own_cpu_ns;
    sum.cupti_ns += cost.cupti_ns;
  }
  if (sum.wall_ns == 0) return;
  trace.meta["cost_wall_ns"] = std::to_string(sum.wall_ns);
  trace.meta["cost_callback_ns"] = std::to_string(sum.callback_ns);
  trace.meta["cost_own_cpu_ns"] = std::to_string(sum.own_cpu_ns);
  trace.meta["cost_cupti_ns"] = std::to_string(sum.cupti_ns);
}

void add_meta(const std::vector<MergedProcess>& merged, Trace& trace) {
  const auto first = std::min_element(
      merged.begin(), merged.end(),
      [](const MergedProcess& a, const MergedProcess& b) { return a.start_ns < b.start_ns; });
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) trace.meta[key] = value;
  };
  set("command", first->process.command);
  set("start_ns", std::to_string(first->start_ns));
  const auto host = first->facts.find("host");
  if (host != first->facts.end()) set("host", host->second);
  const bool simulated = std::any_of(merged.begin(), merged.end(), [](const MergedProcess& m) {
    const auto fact = m.facts.find("simulated");
    return fact != m.facts.end() && fact->second == "1";
  });
  if (simulated) set("simulated", "true");
  add_cost(merged, trace);
  add_process_facts(merged, trace);
}

/// The spools whose events are on another clock than this machine's: a simulated one.
std::set<std::string> on_another_clock(const std::vector<MergedProcess>& merged) {
  constexpr Nanoseconds kFurthestApart = 60'000'000'000;  // more than a clock is ever set by
  std::set<std::string> spools;
  for (const MergedProcess& process : merged) {
    const spool::Status& status = process.status;
    // Unsigned: a file may say anything.
    const auto apart = static_cast<Nanoseconds>(static_cast<std::uint64_t>(status.cupti_ns) -
                                                static_cast<std::uint64_t>(status.realtime_ns));
    const bool far = status.cupti_ns != 0 && (apart > kFurthestApart || apart < -kFurthestApart);
    // A process that was killed before it said which clock it had.
    const bool unknown = status.realtime_ns == 0 && process.facts.count("simulated") != 0;
    if (far || unknown) spools.insert(process.process.spool);
  }
  return spools;
}

/// Why the folder gives no recording, and what to do with it.
std::string nothing_in(const std::string& folder, const std::vector<UnreadableSpool>& spools) {
  const bool all_empty = std::all_of(spools.begin(), spools.end(),
                                     [](const UnreadableSpool& spool) { return spool.empty; });
  return fmt::format("{}: holds nothing that can be recovered{} ({}{})", folder,
                     all_empty ? " and can be deleted" : "", spools.front().why,
                     spools.size() == 1 ? "" : fmt::format("; and {} more", spools.size() - 1));
}

}  // namespace

NoReadableSpool::NoReadableSpool(const std::string& folder, std::vector<UnreadableSpool> spools)
    : CaptureError(nothing_in(folder, spools)), spools_(std::move(spools)) {}

void note_unreadable(const UnreadableSpool& spool, Trace& trace) {
  trace.quality.push_back({kNoRow, trace.intern(spool.empty ? "empty_spool" : "unreadable_spool"),
                           1, trace.intern(spool.why)});
}

std::vector<std::string> spools_in(const std::string& folder) {
  std::vector<std::string> spools;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == kSuffix) spools.push_back(entry->path().string());
  }
  if (error) {
    throw CaptureError(fmt::format("{}: cannot be listed: {}", folder, error.message()));
  }
  std::sort(spools.begin(), spools.end());
  return spools;
}

bool is_spool_folder(const std::string& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) return false;
  if (fs::is_regular_file(fs::path(folder) / kManifestName, ignored)) return true;
  try {
    return !spools_in(folder).empty();
  } catch (const CaptureError&) {
    return false;
  }
}

Recording merge_spools(const std::string& folder, const MergeOptions& options) {
  const std::vector<std::string> paths = spools_in(folder);
  Progress progress(paths, options);
  Recording recording;
  Trace& trace = recording.trace;
  std::vector<MergedProcess> merged;
  std::vector<UnreadableSpool> unreadable;
  std::vector<std::pair<Trace, MergedProcess>> idle;
  const auto add = [&](std::pair<Trace, MergedProcess>& read) {
    if (merged.empty()) {
      trace = std::move(read.first);
    } else {
      append(trace, read.first);
    }
    merged.push_back(std::move(read.second));
  };
  for (const std::string& path : paths) {
    try {
      auto read = read_spool(path, options, progress);
      if (did_nothing(read.first, read.second.process)) {
        idle.push_back(std::move(read));
      } else {
        add(read);
      }
    } catch (const EmptySpool& error) {
      unreadable.push_back({error.what(), true});
    } catch (const SpoolError& error) {
      unreadable.push_back({error.what(), false});
    }
  }
  // Where nobody did anything they are all there is to say why.
  if (merged.empty()) {
    std::for_each(idle.begin(), idle.end(), add);
  } else if (!idle.empty()) {
    trace.meta["idle_processes"] = std::to_string(idle.size());
  }
  if (merged.empty()) {
    if (!unreadable.empty()) throw NoReadableSpool(folder, std::move(unreadable));
    throw CaptureError(
        fmt::format("{}: holds no spool file (*.spool); give the folder that `gprof-ml run` "
                    "recorded into",
                    folder));
  }
  for (const UnreadableSpool& spool : unreadable) note_unreadable(spool, trace);
  add_machine_samples(folder, on_another_clock(merged), trace);
  canonicalise(trace);
  number_work(trace);
  merged = in_order_of(trace, std::move(merged));
  add_meta(merged, trace);
  for (MergedProcess& process : merged) recording.processes.push_back(std::move(process.process));
  return recording;
}

}  // namespace gprofml::profile
