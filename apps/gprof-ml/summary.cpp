#include "apps/gprof-ml/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <map>
#include <optional>
#include <set>

#include "libanalysis/analyze.hpp"
#include "libanalysis/quality/given_up.hpp"
#include "libanalysis/report/printable.hpp"
#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/wrap.hpp"
#include "libprofile/capture/machine/machine_doubts.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/recording.hpp"

namespace gprofml::app {
namespace {

using analysis::count_text;
using analysis::kGlue;
using profile::RecordedProcess;
using profile::SpoolEnd;

/// Beyond this the analysis takes longer than people wait at the end of a run.
constexpr std::size_t kMostEventsToAnalyze = 2'000'000;

std::string line(std::string_view label, const std::string& text) {
  return analysis::wrap(text, fmt::format("  {:<10}", label), 12);
}

/// Something to paste: in one line, however long.
std::string command_line(std::string_view label, const std::string& command) {
  return fmt::format("  {:<10}{}\n", label, command);
}

std::string counted(std::size_t count, const char* one, const char* many) {
  return fmt::format("{}{}{}", count_text(static_cast<std::int64_t>(count)), kGlue,
                     count == 1 ? one : many);
}

std::string size_text(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  double value = static_cast<double>(bytes);
  for (; value >= 1000.0 && unit + 1 < std::size(kUnits); ++unit) value /= 1000.0;
  return unit == 0 ? fmt::format("{}{}B", bytes, kGlue)
                   : fmt::format("{:.1f}{}{}", value, kGlue, kUnits[unit]);
}

bool is_simulated(const profile::Trace& trace) {
  const auto mark = trace.meta.find("simulated");
  return mark != trace.meta.end() && mark->second != "0" && mark->second != "false";
}

std::size_t events(const profile::Trace& trace) {
  return trace.kernels.size() + trace.copies.size() + trace.fills.size() + trace.api_calls.size() +
         trace.ranges.size() + trace.graph_launches.size();
}

/// What the analysis says, for recordings that are worth its time.
std::optional<analysis::Report> report_on(const profile::Trace& trace) {
  const std::size_t work =
      trace.kernels.size() + trace.copies.size() + trace.fills.size() + trace.graph_launches.size();
  if (work == 0 || events(trace) > kMostEventsToAnalyze) return std::nullopt;
  try {
    return analysis::analyze(trace, {});
  } catch (const std::exception&) {
    return std::nullopt;  // `analyze` will say what is wrong with it
  }
}

// --- recorded --------------------------------------------------------------------------------

void add_devices(const profile::Trace& trace, const profile::ActivityColumns& work,
                 std::set<profile::RowIndex>& devices) {
  for (const profile::RowIndex stream : work.stream) devices.insert(trace.device_of_stream(stream));
}

/// "1x H200": the GPUs that worked.
std::string devices_text(const profile::Trace& trace) {
  std::set<profile::RowIndex> devices;
  add_devices(trace, trace.kernels, devices);
  add_devices(trace, trace.copies, devices);
  add_devices(trace, trace.fills, devices);
  add_devices(trace, trace.graph_launches, devices);
  devices.erase(profile::kNoRow);
  if (devices.empty()) return "no GPU work";
  std::map<std::string, int> count_of;
  for (const profile::RowIndex device : devices) {
    std::string name = analysis::printable(trace.text(trace.devices[device].name));
    if (name.rfind("NVIDIA ", 0) == 0) name = name.substr(7);
    ++count_of[name.empty() ? "GPU" : name];
  }
  std::string out;
  for (const auto& [name, count] : count_of) {
    out += fmt::format("{}{}x{}{}", out.empty() ? "" : ", ", count, kGlue, name);
  }
  return out;
}

std::string recorded_text(const profile::Recording& recording) {
  const profile::Trace& trace = recording.trace;
  std::vector<std::string> kinds;
  const auto add = [&](std::size_t count, const char* one, const char* many) {
    if (count > 0) kinds.push_back(counted(count, one, many));
  };
  add(trace.kernels.size(), "kernel", "kernels");
  add(trace.copies.size(), "copy", "copies");
  add(trace.fills.size(), "fill", "fills");
  add(trace.graph_launches.size(), "graph launch", "graph launches");
  add(trace.ranges.size(), "range", "ranges");
  add(trace.memory_events.size(), "memory event", "memory events");
  add(trace.memory_pool_events.size(), "pool event", "pool events");
  add(trace.migrations.size(), "migration", "migrations");
  if (kinds.size() < 4) add(trace.api_calls.size(), "CUDA call", "CUDA calls");
  std::string out;
  for (const std::string& kind : kinds) out += (out.empty() ? "" : ", ") + kind;
  out += fmt::format("; {}, {}", counted(recording.processes.size(), "process", "processes"),
                     devices_text(trace));
  if (is_simulated(trace)) out += "; SIMULATED GPU, not a measurement";
  return out;
}

// --- lost ------------------------------------------------------------------------------------

std::string pid_list(const std::vector<std::int64_t>& pids) {
  constexpr std::size_t kEnough = 5;
  std::string out = pids.size() == 1 ? "pid" : "pids";
  for (std::size_t i = 0; i < std::min(pids.size(), kEnough); ++i) {
    out += fmt::format("{}{}", i == 0 ? std::string(1, kGlue) : ", ", pids[i]);
  }
  if (pids.size() > kEnough) out += fmt::format(" and {} more", pids.size() - kEnough);
  return out;
}

std::vector<std::int64_t> pids_that(const profile::Recording& recording, SpoolEnd end) {
  std::vector<std::int64_t> pids;
  for (const RecordedProcess& process : recording.processes) {
    if (process.end == end) pids.push_back(process.pid);
  }
  return pids;
}

/// Behind the damage in all damaged spools.
std::string lost_bytes_text(const profile::Recording& recording) {
  std::uint64_t bytes = 0;
  for (const RecordedProcess& process : recording.processes) {
    if (process.end == SpoolEnd::damaged) bytes += process.lost_bytes;
  }
  return size_text(bytes);
}

void add_clause(std::string& text, const std::string& clause) {
  if (!clause.empty()) text += (text.empty() ? "" : "; ") + clause;
}

std::string submissions_clause(const analysis::Quality& quality) {
  const std::int64_t missing = quality.submissions - quality.linked_submissions;
  if (missing <= 0) return {};
  return fmt::format("{} of {} submissions have no GPU work recorded", count_text(missing),
                     count_text(quality.submissions));
}

/// The sum over all processes of the notes with one of these codes.
std::int64_t noted(const profile::Trace& trace, std::initializer_list<std::string_view> codes) {
  std::int64_t count = 0;
  for (const profile::QualityNote& note : trace.quality) {
    const std::string_view code = trace.text(note.code);
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) count += note.count;
  }
  return count;
}

void add_count(std::string& text, std::int64_t count, const char* one, const char* many,
               const char* what) {
  if (count == 0) return;
  add_clause(text, fmt::format("{} {}", counted(static_cast<std::size_t>(count), one, many), what));
}

/// Notes that have a sentence of their own in the summary, or that say of no loss.
constexpr std::string_view kNoFurtherLoss[] = {
    "dropped_records",  "discarded_records",   "ranges_lost",         "incomplete_records",
    "unreadable_spool", "empty_spool",         "write_failed",        "ended_abruptly",
    "still_running",    "damaged_spool",       "cuda_not_recorded",   "nvtx_not_recorded",
    "outside_window",   "no_window",           "cuda_variable_taken", "nvtx_variable_taken",
    "not_recording",    "nested_recording",    "nothing_recorded",    "spools_gone",
    "open_ranges",      "unopened_range_ends", "clock_step",          "stubs_on_path",
    "stub_library",
};

/// What else is noted, of which a recorder may know more than this version: the run.db says it.
std::string doubts_clause(const profile::Trace& trace) {
  std::map<std::string, std::int64_t> counts;
  for (const profile::QualityNote& note : trace.quality) {
    const std::string_view code = trace.text(note.code);
    const auto* const end = std::end(kNoFurtherLoss);
    if (std::find(std::begin(kNoFurtherLoss), end, code) != end) continue;
    counts[analysis::printable(code)] += note.count;
  }
  std::string text;
  for (const auto& [code, count] : counts) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", code, kGlue, count_text(count));
  }
  return text.empty() ? text : "incomplete: " + text + " (table quality has more)";
}

std::string lost_text(const profile::Recording& recording, const analysis::Report* report) {
  std::string text;
  if (report != nullptr) add_clause(text, submissions_clause(report->quality));
  const profile::Trace& trace = recording.trace;
  add_count(text, noted(trace, {"dropped_records", "discarded_records"}), "record", "records",
            "dropped");
  add_count(text, noted(trace, {"ranges_lost"}), "range event", "range events", "dropped");
  add_count(text, noted(trace, {"incomplete_records"}), "record was", "records were",
            "unfinished when the program ended");
  if (report != nullptr) {
    add_count(text, report->quality.no_timestamp, "GPU activity has", "GPU activities have",
              "no usable times");
  }
  add_count(text, noted(trace, {"unreadable_spool"}), "spool", "spools", "cannot be read");
  add_count(text, noted(trace, {"empty_spool"}), "process", "processes",
            "ended before anything was recorded");
  const std::int64_t limited = noted(trace, {"size_limit"});
  if (limited > 0) {
    add_clause(text,
               fmt::format("the recording of {} ended at the size limit (--max-size), what "
                           "followed is missing",
                           counted(static_cast<std::size_t>(limited), "process", "processes")));
  }
  add_clause(text, doubts_clause(trace));
  const std::vector<std::int64_t> failed = pids_that(recording, SpoolEnd::write_failed);
  if (!failed.empty()) {
    add_clause(text, fmt::format("{} could not write any more, what followed is missing",
                                 pid_list(failed)));
  }
  const std::vector<std::int64_t> abrupt = pids_that(recording, SpoolEnd::abrupt);
  if (!abrupt.empty()) {
    add_clause(text, fmt::format("{} ended abruptly, {} last moments may be missing",
                                 pid_list(abrupt), abrupt.size() == 1 ? "its" : "their"));
  }
  const std::vector<std::int64_t> damaged = pids_that(recording, SpoolEnd::damaged);
  if (!damaged.empty()) {
    add_clause(text, fmt::format("the spool of {} is damaged, {} behind the damage are missing",
                                 pid_list(damaged), lost_bytes_text(recording)));
  }
  if (!text.empty()) return text;
  const bool all_there = report != nullptr && report->quality.submissions > 0;
  return all_there ? "nothing: every submission has its GPU work, 0 records dropped"
                   : "nothing: 0 records dropped";
}

// --- what was not recorded --------------------------------------------------------------------

bool is_reason(const std::string& answer) {
  return !answer.empty() && answer != "recorded";
}

/// "CUDA: no driver (libcuda.so.1 not found)" with the pids it is true of.
std::map<std::string, std::vector<std::int64_t>> refusals(const profile::Recording& recording) {
  std::map<std::string, std::vector<std::int64_t>> pids_of;
  for (const RecordedProcess& process : recording.processes) {
    if (is_reason(process.cuda)) {
      pids_of["CUDA: " + analysis::printable(process.cuda)].push_back(process.pid);
    }
    if (is_reason(process.nvtx)) {
      pids_of["NVTX: " + analysis::printable(process.nvtx)].push_back(process.pid);
    }
  }
  return pids_of;
}

/// Notes of the launcher: no library, a variable that another tool holds.
std::vector<std::string> launcher_notes(const profile::Trace& trace) {
  std::vector<std::string> notes;
  for (const profile::QualityNote& note : trace.quality) {
    const std::string_view code = trace.text(note.code);
    if (code == "cuda_variable_taken" || code == "nvtx_variable_taken" || code == "not_recording" ||
        code == "nested_recording" || code == "nothing_recorded" || code == "spools_gone") {
      notes.push_back(analysis::printable(trace.text(note.detail)));
    }
  }
  return notes;
}

std::string missing_lines(const profile::Recording& recording) {
  std::string out;
  for (const std::string& note : launcher_notes(recording.trace)) out += line("missing", note);
  for (const auto& [reason, pids] : refusals(recording)) {
    out += line("missing", pids.size() == recording.processes.size()
                               ? reason
                               : fmt::format("{} ({})", reason, pid_list(pids)));
  }
  return out;
}

// --- cost -------------------------------------------------------------------------------------

/// Accounted for: what CUPTI does inside each call shows only against a run without recording.
std::string cost_line(const profile::Recording& recording) {
  profile::RecordingCost sum;
  for (const RecordedProcess& process : recording.processes) {
    sum.wall_ns = std::max(sum.wall_ns, process.cost.wall_ns);
    sum.callback_ns += process.cost.callback_ns;
    sum.own_cpu_ns += process.cost.own_cpu_ns;
    sum.cupti_ns += process.cost.cupti_ns;
  }
  if (sum.wall_ns <= 0) return {};
  const auto tenths =
      std::llround(1000.0 * static_cast<double>(sum.total_ns()) / static_cast<double>(sum.wall_ns));
  std::string parts =
      fmt::format("callbacks {}, own threads {}", analysis::duration_text(sum.callback_ns),
                  analysis::duration_text(sum.own_cpu_ns));
  if (sum.cupti_ns > 0) parts += ", CUPTI " + analysis::duration_text(sum.cupti_ns);
  // A simulated program takes as long as the simulation: a share of that says nothing.
  if (is_simulated(recording.trace)) return line("cost", parts + "; no share: simulated");
  return line("cost", fmt::format("~{} of wall time accounted for ({})",
                                  analysis::percent_text(tenths), parts));
}

/// What was given up for --overhead-budget, and when.
std::string budget_line(const profile::Trace& trace) {
  const std::string given = analysis::given_up(trace);
  return given.empty() ? given : line("budget", given);
}

/// What the machine around the program had to do with its times, where somebody can change that.
std::string machine_lines(const profile::Trace& trace) {
  std::string out;
  for (const std::string& doubt : profile::machine_doubts(trace)) out += line("machine", doubt);
  return out;
}

// --- steps, wrote, next ------------------------------------------------------------------------

/// In tenths of a percent over all GPUs; -1 without any.
std::int64_t busy_tenths(const analysis::Report& report) {
  profile::Nanoseconds busy = 0;
  profile::Nanoseconds span = 0;
  for (const analysis::DeviceReport& device : report.devices) {
    busy += device.timeline.busy_ns;
    span += device.timeline.span_ns;
  }
  if (span <= 0) return -1;
  return std::llround(1000.0 * static_cast<double>(busy) / static_cast<double>(span));
}

std::string steps_line(const analysis::Report& report) {
  const analysis::Steps& steps = report.steps;
  if (steps.count == 0) return {};
  std::string text = fmt::format("{} found, median {}", count_text(steps.count),
                                 analysis::duration_text(steps.median_ns));
  const std::int64_t busy = busy_tenths(report);
  if (busy >= 0 && report.window.kind == analysis::WindowKind::steps) {
    text += fmt::format("; GPU busy {} in the steady {}", analysis::percent_text(busy),
                        count_text(report.window.steps));
  }
  return line("steps", text);
}

/// What the program printed and `--metric` read.
std::string metric_lines(const profile::Trace& trace) {
  std::string out;
  for (const analysis::ProgramMetric& metric : analysis::program_metrics(trace.meta)) {
    const std::string name = analysis::printable(metric.name);
    out +=
        line("metric", metric.value ? fmt::format("{} {:.6g} (the last of {})", name, *metric.value,
                                                  counted(static_cast<std::size_t>(metric.count),
                                                          "match", "matches"))
                                    : name + ": nothing in the program's output matches");
  }
  return out;
}

std::string wrote_line(const SummaryInput& input) {
  const std::string shown = analysis::printable(input.output);
  std::string text = fmt::format("{}, {} in {}", shown, size_text(input.written.bytes),
                                 analysis::duration_text(input.merge_ns));
  if (input.written.kept_old) text += fmt::format(" (previous one kept as {}.old)", shown);
  return line("wrote", text);
}

std::string kept_lines(const SummaryInput& input) {
  if (input.spools.empty()) return {};
  const std::vector<std::int64_t> running = pids_that(*input.recording, SpoolEnd::still_running);
  std::string out;
  if (!running.empty()) {
    out += line("running", fmt::format("{} still {}; when {} ended:", pid_list(running),
                                       running.size() == 1 ? "runs" : "run",
                                       running.size() == 1 ? "it has" : "they have"));
    out += command_line("", input.recover);
  } else {
    out += line("spools", analysis::printable(input.spools));
  }
  return out;
}

bool has_note(const profile::Trace& trace, std::string_view code) {
  return std::any_of(
      trace.quality.begin(), trace.quality.end(),
      [&](const profile::QualityNote& note) { return trace.text(note.code) == code; });
}

std::string next_for_nothing(const profile::Recording& recording) {
  if (!has_note(recording.trace, "nothing_recorded")) return {};
  if (!recording.processes.empty() || has_note(recording.trace, "empty_spool") ||
      has_note(recording.trace, "unreadable_spool")) {
    return {};  // a recorder started, so it was the right one
  }
  return line("next",
              "is it the right program? Name the one that uses the GPU, or one that starts it");
}

}  // namespace

std::string recover_command(const std::string& folder, bool replace) {
  return "gprof-ml recover " + shell_word(folder) + (replace ? " --force" : "");
}

std::string shell_word(const std::string& text) {
  return profile::command_text({analysis::printable(text)});
}

std::string program_that_ran(const std::vector<std::string>& command,
                             const profile::Recording& recording, std::int64_t pid) {
  for (const profile::RecordedProcess& process : recording.processes) {
    if (process.pid != pid || process.command.empty()) continue;
    const std::string program = process.command.substr(0, process.command.find(' '));
    if (program.find_first_of("'\"\\") == std::string::npos) return program;
  }
  return command.front();
}

std::string end_sentence(const std::string& program, const profile::ProgramEnd& end) {
  const std::string name =
      analysis::shorten_middle(analysis::printable(program.substr(program.rfind('/') + 1)), 24);
  std::string time = analysis::duration_text(end.wall_ns);
  std::replace(time.begin(), time.end(), kGlue, ' ');
  if (end.signal == 0) {
    return fmt::format("{} exited {} after {} (output and exit code are its own)", name,
                       end.exit_code, time);
  }
  const char* const abbreviation = sigabbrev_np(end.signal);
  return fmt::format("{} was killed by signal {}{} after {}", name, end.signal,
                     abbreviation == nullptr ? "" : fmt::format(" (SIG{})", abbreviation), time);
}

std::string reason_for_nothing(const profile::Trace& trace) {
  const std::vector<std::string> notes = launcher_notes(trace);
  return notes.empty() ? "" : notes.front();
}

std::string summary_lines(const SummaryInput& input) {
  const profile::Recording& recording = *input.recording;
  if (has_no_records(recording.trace)) {
    return line("recorded", "nothing: " + reason_for_nothing(recording.trace)) +
           metric_lines(recording.trace) + wrote_line(input) + kept_lines(input) +
           next_for_nothing(recording);
  }
  const std::optional<analysis::Report> report = report_on(recording.trace);
  std::string out = line("recorded", recorded_text(recording));
  out += line("lost", lost_text(recording, report ? &*report : nullptr));
  out += missing_lines(recording);
  out += machine_lines(recording.trace);
  out += cost_line(recording);
  out += budget_line(recording.trace);
  if (report) out += steps_line(*report);
  out += metric_lines(recording.trace);
  out += wrote_line(input) + kept_lines(input);
  out += command_line("next", "gprof-ml analyze " + shell_word(input.output));
  return out;
}

}  // namespace gprofml::app
