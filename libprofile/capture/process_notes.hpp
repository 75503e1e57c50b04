// What a reader should know about one process's recording, as rows of table `quality`.
#pragma once

#include <string>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/translate_process.hpp"

namespace gprofml::profile {

/// Adds the quality notes of process row 0 to its trace. `damage` says what does not verify where
/// `process.end` is damaged. The codes stand in docs/run-db.md.
void add_process_notes(const ProcessFacts& facts, const RecordedProcess& process,
                       const std::string& damage, Trace& trace);

/// A moment as people read it: "2026-03-01 12:30:05.250 UTC".
std::string moment_text(Nanoseconds since_epoch_ns);

}  // namespace gprofml::profile
