// What `run` and `recover` both do once the processes have ended: spools into a run.db.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "apps/gprof-ml/run_output.hpp"
#include "libprofile/capture/recording.hpp"

namespace gprofml::app {

struct FinishRequest {
  std::string folder;  ///< of the spools; empty: there was none
  profile::Manifest manifest;
  RunOutput output;
  std::optional<profile::ProgramEnd> end;          ///< unknown to `recover`
  bool progress = true;                            ///< show a bar where there is a terminal
  std::map<std::string, std::string> more_meta{};  ///< what else the run.db is to say
};

struct FinishedRecording {
  profile::Recording recording;
  WrittenRunDb written;
  profile::Nanoseconds merge_ns = 0;
};

/// Merges the spools and writes the run.db. Removes nothing. Throws profile::CaptureError,
/// profile::StoreError, OutputError or Interrupted.
FinishedRecording finish_recording(const FinishRequest& request);

/// Whether the spools hold more than the recording took from them: a process still writes, or a
/// part could not be read.
bool spools_hold_more(const profile::Recording& recording);

}  // namespace gprofml::app
