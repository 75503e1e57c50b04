// A spool folder as a Recording: its spools merged, with what the manifest knows beside.
#pragma once

#include <string>

#include "libprofile/capture/launch.hpp"
#include "libprofile/capture/manifest.hpp"
#include "libprofile/capture/merge.hpp"

namespace gprofml::profile {

/// How many events the trace holds of what happened: work, calls, ranges, memory.
std::size_t record_count(const Trace& trace);

/// Whether the trace holds no event of any kind.
bool has_no_records(const Trace& trace);

/// The spools of `folder`, merged. The manifest's command, host and problems stand in the trace's
/// meta and quality. A trace without any event says why in `quality` (code "nothing_recorded",
/// unless another note does); without any spool it has one process. The trace is canonical. Throws
/// CaptureError when the folder cannot be read, NoReadableSpool.
Recording read_recording(const std::string& folder, const Manifest& manifest,
                         const MergeOptions& options = {});

/// What is left to say of a recording of whose spools none can be read: as without any.
Recording recording_without_spools(const Manifest& manifest,
                                   const std::vector<UnreadableSpool>& spools);

/// As read_recording for a folder of which nothing is known, with or without a manifest. Throws
/// CaptureError also when it holds neither a manifest nor a spool.
Recording read_spool_folder(const std::string& folder, const MergeOptions& options = {});

/// Notes in `meta` how the program ended.
void note_end(Trace& trace, const ProgramEnd& end);

}  // namespace gprofml::profile
