#include "apps/gprof-ml/finish_recording.hpp"

#include <algorithm>
#include <chrono>

#include "apps/gprof-ml/interruptible.hpp"
#include "apps/gprof-ml/progress.hpp"

namespace gprofml::app {
namespace {

/// A program that ran has a run.db, whatever became of its spools; `recover` has nothing to say
/// without them.
profile::Recording read(const FinishRequest& request, const profile::MergeOptions& options) {
  try {
    return profile::read_recording(request.folder, request.manifest, options);
  } catch (const profile::NoReadableSpool& error) {
    if (!request.end) throw;
    return profile::recording_without_spools(request.manifest, error.spools());
  }
}

}  // namespace

FinishedRecording finish_recording(const FinishRequest& request) {
  const auto start = std::chrono::steady_clock::now();
  Progress progress("gprof-ml: reading what was recorded", request.progress);
  profile::MergeOptions options;
  options.progress = [&](std::uint64_t done, std::uint64_t all) {
    Interruptible::check();
    progress.show(done, all);
  };
  FinishedRecording finished;
  finished.recording = read(request, options);
  if (request.end) {
    profile::note_end(finished.recording.trace, *request.end);
  } else {
    finished.recording.trace.meta["recovered"] = "true";
  }
  for (const auto& [key, value] : request.more_meta) finished.recording.trace.meta[key] = value;
  Interruptible::check();
  finished.written = write_run_output(finished.recording.trace, request.output);
  finished.merge_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count();
  return finished;
}

bool spools_hold_more(const profile::Recording& recording) {
  const auto& processes = recording.processes;
  const profile::Trace& trace = recording.trace;
  return std::any_of(processes.begin(), processes.end(),
                     [](const profile::RecordedProcess& process) {
                       return process.end == profile::SpoolEnd::still_running ||
                              process.end == profile::SpoolEnd::damaged;
                     }) ||
         std::any_of(trace.quality.begin(), trace.quality.end(),
                     [&](const profile::QualityNote& note) {
                       return trace.text(note.code) == "unreadable_spool";
                     });
}

}  // namespace gprofml::app
