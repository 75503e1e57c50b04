#include "libprofile/capture/recording.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "libprofile/capture/output_metrics.hpp"

namespace gprofml::profile {
namespace {

void add_note(Trace& trace, std::string_view code, std::string_view detail) {
  QualityNote note;
  note.code = trace.intern(code);
  note.count = 1;
  note.detail = trace.intern(detail);
  trace.quality.push_back(note);
}

/// The program alone: that it ran.
Trace trace_of_program(const Manifest& manifest) {
  Trace trace;
  Process process;
  process.pid = manifest.program_pid;
  process.host = trace.intern(manifest.host);
  process.command = trace.intern(command_text(manifest.command));
  trace.processes.push_back(process);
  return trace;
}

bool is_refusal(const std::string& state) {
  return !state.empty() && state != "recorded";
}

/// Why a process whose spool can be read handed over no event.
std::string reason_of(const RecordedProcess& process) {
  const std::string who = fmt::format("pid {}", process.pid);
  if (is_refusal(process.cuda)) return fmt::format("{}: CUDA: {}", who, process.cuda);
  if (is_refusal(process.nvtx)) return fmt::format("{}: NVTX: {}", who, process.nvtx);
  switch (process.end) {
    case SpoolEnd::orderly:
      break;
    case SpoolEnd::abrupt:
      return who + " began to record and ended abruptly before anything was handed over";
    case SpoolEnd::write_failed:
      return who + " began to record, but could not write what it recorded";
    case SpoolEnd::still_running:
      return who + " records, but has handed over nothing yet";
    case SpoolEnd::damaged:
      return fmt::format("the spool of {} is damaged before its first event", who);
  }
  return who + " began to record and ended before anything was handed over";
}

/// Processes that say why go before those that only began.
std::string reason_of(const std::vector<RecordedProcess>& processes) {
  const auto told = std::find_if(processes.begin(), processes.end(), [](const auto& process) {
    return is_refusal(process.cuda) || is_refusal(process.nvtx);
  });
  std::string reason = reason_of(told == processes.end() ? processes.front() : *told);
  if (processes.size() > 1) reason += fmt::format(" (and {} more)", processes.size() - 1);
  return reason;
}

/// What the recorders say of it themselves: no window opened, the size limit was reached.
std::string told_reason(const Trace& trace) {
  for (const QualityNote& note : trace.quality) {
    const std::string_view code = trace.text(note.code);
    if (code == "no_window" || code == "size_limit") return std::string(trace.text(note.detail));
  }
  return {};
}

void note_nothing(Recording& recording) {
  if (const std::string told = told_reason(recording.trace); !told.empty()) {
    return add_note(recording.trace, "nothing_recorded", told);
  }
  add_note(
      recording.trace, "nothing_recorded",
      recording.processes.empty()
          ? "no recorder started: the program used neither CUDA nor NVTX, or could not write to "
            "the spool folder (another user, root folder or mount)"
          : reason_of(recording.processes));
}

bool is_folder(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::is_directory(folder, ignored);
}

void set(Trace& trace, const char* key, const std::string& value) {
  if (!value.empty()) trace.meta[key] = value;
}

void add_manifest(Trace& trace, const Manifest& manifest) {
  set(trace, "command", command_text(manifest.command));
  set(trace, "working_folder", manifest.working_folder);
  set(trace, "host", manifest.host);
  set(trace, "recorded_by", "gprof-ml run " + manifest.tool_version);
  set(trace, "start_ns", std::to_string(manifest.start_ns));
  for (const auto& [key, value] : manifest.meta) trace.meta[key] = value;
  for (const RecordingProblem& problem : manifest.problems) {
    add_note(trace, problem.code, problem.detail);
  }
}

}  // namespace

std::size_t record_count(const Trace& trace) {
  return trace.kernels.size() + trace.copies.size() + trace.fills.size() + trace.api_calls.size() +
         trace.graph_launches.size() + trace.ranges.size() + trace.syncs.size() +
         trace.memory_events.size() + trace.memory_pool_events.size() + trace.migrations.size();
}

bool has_no_records(const Trace& trace) {
  return record_count(trace) == 0;
}

Recording read_recording(const std::string& folder, const Manifest& manifest,
                         const MergeOptions& options) {
  Recording recording;
  const bool exists = is_folder(folder);
  const bool spools = exists && !spools_in(folder).empty();
  if (spools) {
    recording = merge_spools(folder, options);
  } else {
    recording.trace = trace_of_program(manifest);
  }
  const std::size_t notes = recording.trace.quality.size();
  if (!exists && !folder.empty()) {
    add_note(recording.trace, "spools_gone", folder + " was removed while the program ran");
  } else if (has_no_records(recording.trace) && manifest.problems.empty()) {
    note_nothing(recording);  // with a problem noted the reason is known already
  }
  add_manifest(recording.trace, manifest);
  const auto go_on = [&options] {
    if (options.progress) options.progress(1, 1);  // where somebody may ask to stop
  };
  for (const auto& [key, value] : metrics_of_output(folder, manifest.meta, go_on)) {
    recording.trace.meta[key] = value;
  }
  const bool changed = recording.processes.empty() || recording.trace.quality.size() != notes;
  if (changed) canonicalise(recording.trace);
  return recording;
}

Recording recording_without_spools(const Manifest& manifest,
                                   const std::vector<UnreadableSpool>& spools) {
  Recording recording;
  Trace& trace = recording.trace;
  trace = trace_of_program(manifest);
  for (const UnreadableSpool& spool : spools) note_unreadable(spool, trace);
  if (manifest.problems.empty()) add_note(trace, "nothing_recorded", spools.front().why);
  add_manifest(trace, manifest);
  canonicalise(trace);
  return recording;
}

Recording read_spool_folder(const std::string& folder, const MergeOptions& options) {
  if (const std::optional<Manifest> manifest = read_manifest(folder)) {
    return read_recording(folder, *manifest, options);
  }
  return merge_spools(folder, options);
}

void note_end(Trace& trace, const ProgramEnd& end) {
  if (end.signal != 0) {
    trace.meta["exit_signal"] = std::to_string(end.signal);
  } else {
    trace.meta["exit_code"] = std::to_string(end.exit_code);
  }
  trace.meta["wall_ns"] = std::to_string(end.wall_ns);
}

}  // namespace gprofml::profile
