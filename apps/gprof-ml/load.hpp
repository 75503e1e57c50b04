// From an input the user names to a Trace.
#pragma once

#include <string>

#include "libprofile/import/import.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::app {

struct LoadedTrace {
  profile::Trace trace;
  bool is_run_db = false;     ///< read from a run.db, not imported
  bool is_recording = false;  ///< a run.db or a spool folder: ours
};

/// Reads a run.db or a spool folder or imports a foreign trace, told apart by content. The trace is
/// canonical. Throws profile::StoreError, profile::CaptureError or profile::ImportError.
LoadedTrace load_trace(const std::string& path, const profile::ImportOptions& options);

}  // namespace gprofml::app
