#include "libprofile/capture/recording.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace gprofml::profile {
namespace {

void add_note(Trace& trace, std::string_view code, std::string_view detail) {
  QualityNote note;
  note.code = trace.intern(code);
  note.count = 1;
  note.detail = trace.intern(detail);
  trace.quality.push_back(note);
}

/// The program alone: that it ran, and that it left nothing. `gone`: the folder that should be
/// there.
Trace trace_of_nothing(const Manifest& manifest, const std::string& gone) {
  Trace trace;
  Process process;
  process.pid = manifest.program_pid;
  process.host = trace.intern(manifest.host);
  process.command = trace.intern(command_text(manifest.command));
  trace.processes.push_back(process);
  // With a problem noted the reason is known already.
  if (!gone.empty()) {
    add_note(trace, "spools_gone", gone + " was removed while the program ran");
  } else if (manifest.problems.empty()) {
    add_note(trace, "nothing_recorded", "the program used neither CUDA nor NVTX");
  }
  return trace;
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
  for (const RecordingProblem& problem : manifest.problems) {
    add_note(trace, problem.code, problem.detail);
  }
}

}  // namespace

Recording read_recording(const std::string& folder, const Manifest& manifest,
                         const MergeOptions& options) {
  Recording recording;
  const bool exists = is_folder(folder);
  if (exists && !spools_in(folder).empty()) {
    recording = merge_spools(folder, options);
  } else {
    recording.trace = trace_of_nothing(manifest, exists || folder.empty() ? "" : folder);
  }
  const std::size_t notes = recording.trace.quality.size();
  add_manifest(recording.trace, manifest);
  const bool changed = recording.processes.empty() || recording.trace.quality.size() != notes;
  if (changed) canonicalise(recording.trace);
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
