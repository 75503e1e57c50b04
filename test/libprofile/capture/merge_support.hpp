// Merging spools made by hand, and looking into what came out.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/capture/merge.hpp"
#include "test/libprofile/capture/recorded_process.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {

/// A folder of spools.
struct SpoolFolder {
  void add(RecordedProcess& process, const std::string& name = "a.spool") {
    process.spool.write(folder / name);
  }
  profile::Recording merge() const {
    profile::Recording recording = profile::merge_spools(folder.path().string());
    const auto broken = profile::first_inconsistency(recording.trace);
    if (broken) throw std::logic_error(*broken);
    return recording;
  }

  TemporaryFolder folder;
};

inline profile::Recording merged(RecordedProcess& process) {
  SpoolFolder folder;
  folder.add(process);
  return folder.merge();
}

/// "code count" of every note.
inline std::vector<std::string> notes_of(const profile::Trace& trace) {
  std::vector<std::string> notes;
  for (const profile::QualityNote& note : trace.quality) {
    notes.push_back(std::string(trace.text(note.code)) + " " + std::to_string(note.count));
  }
  return notes;
}

inline std::string detail_of(const profile::Trace& trace, std::string_view code) {
  for (const profile::QualityNote& note : trace.quality) {
    if (trace.text(note.code) == code) return std::string(trace.text(note.detail));
  }
  return "no such note";
}

/// Row of the first event of that name.
template <typename Table>
profile::RowIndex row_named(const profile::Trace& trace, const Table& table,
                            std::string_view name) {
  for (profile::RowIndex row = 0; row < table.size(); ++row) {
    if (trace.text(table.name[row]) == name) return row;
  }
  return profile::kNoRow;
}

inline std::string range_name(const profile::Trace& trace, profile::RowIndex range) {
  return range == profile::kNoRow ? "none" : std::string(trace.text(trace.ranges.name[range]));
}

}  // namespace gprofml::test
