// A spool folder as a Recording: its spools merged, with what the manifest knows beside.
#pragma once

#include <string>

#include "libprofile/capture/launch.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/merge.hpp"

namespace gprofml::profile {

/// The spools of `folder`, merged. The manifest's command, host and problems stand in the trace's
/// meta and quality. Without any spool the trace holds no record, one process, and the reason in
/// `quality` (code "nothing_recorded"). The trace is canonical. Throws CaptureError when there are
/// spools and none can be read.
Recording read_recording(const std::string& folder, const Manifest& manifest,
                         const MergeOptions& options = {});

/// The same for a folder of which nothing is known, with or without a manifest. Throws CaptureError
/// also when it holds neither a manifest nor a spool.
Recording read_spool_folder(const std::string& folder, const MergeOptions& options = {});

/// Notes in `meta` how the program ended.
void note_end(Trace& trace, const ProgramEnd& end);

}  // namespace gprofml::profile
