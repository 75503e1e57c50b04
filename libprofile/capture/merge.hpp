// From spool files to a Trace: what one recording's processes wrote, joined and translated.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Spools that cannot be read at all. `what()` is one line: folder or file, why, what to do.
class CaptureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A spool that cannot be read: its row in table `quality`.
struct UnreadableSpool {
  std::string why;     ///< one line: which file, why
  bool empty = false;  ///< nothing was ever recorded into it
};

/// A folder with spools of which none can be read.
class NoReadableSpool : public CaptureError {
 public:
  NoReadableSpool(const std::string& folder, std::vector<UnreadableSpool> spools);
  const std::vector<UnreadableSpool>& spools() const { return spools_; }

 private:
  std::vector<UnreadableSpool> spools_;
};

/// Adds the quality note of such a spool, "unreadable_spool" or "empty_spool".
void note_unreadable(const UnreadableSpool& spool, Trace& trace);

/// How a recorded process came to its end, as far as its spool shows.
enum class SpoolEnd : std::uint8_t {
  orderly,        ///< the exit handler ran: everything is there
  abrupt,         ///< killed, _exit, exec: what CUPTI still held is missing
  write_failed,   ///< the recorder could not write any more; the process itself went on
  still_running,  ///< the file is locked by its writer: read up to its last whole chunk
  damaged         ///< a chunk in the middle does not verify: read up to there
};

/// What recording a process has cost, as far as it is accounted: not what CUPTI does inside each
/// call. All in nanoseconds.
struct RecordingCost {
  Nanoseconds wall_ns = 0;      ///< from the recorder's start to its last word
  Nanoseconds callback_ns = 0;  ///< on the program's threads, by sampling
  Nanoseconds own_cpu_ns = 0;   ///< CPU time of the recorder's threads
  Nanoseconds cupti_ns = 0;     ///< CUPTI's overhead records

  Nanoseconds total_ns() const { return callback_ns + own_cpu_ns + cupti_ns; }
};

/// One process of a recording.
struct RecordedProcess {
  std::string spool;  ///< file name
  std::int64_t pid = kUnknown;
  std::string command;
  std::string cuda;  ///< "recorded", or why CUDA was not; empty: CUDA never started
  std::string nvtx;  ///< the same for NVTX
  SpoolEnd end = SpoolEnd::abrupt;
  Nanoseconds last_written_ns = 0;  ///< of the last whole chunk, CLOCK_REALTIME
  std::uint64_t bytes = 0;          ///< of the file
  std::uint64_t lost_bytes = 0;     ///< behind the last whole chunk
  RecordingCost cost;
};

struct Recording {
  Trace trace;  ///< canonical; lost records and abrupt ends are in `trace.quality` too
  std::vector<RecordedProcess> processes;  ///< as Trace::processes, in its order
};

struct MergeOptions {
  /// Of recordings in windows only those that are complete, of each process (by pid) from this
  /// index on. nullopt: all.
  std::optional<std::map<std::int64_t, std::uint32_t>> complete_windows_from;
  /// Called now and then with the bytes read so far and in all.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

/// The spool files (*.spool) of a folder, by name. Throws CaptureError when it cannot be listed.
std::vector<std::string> spools_in(const std::string& folder);

/// Whether a folder looks like a recording's spool folder: it holds a *.spool file or a manifest.
bool is_spool_folder(const std::string& folder);

/// Reads every spool of a folder into one trace. Processes that use the same GPU (by UUID) share
/// its row. A file that is no spool, or of a newer version, becomes a quality note
/// ("unreadable_spool", "empty_spool") and does not stop the others. Processes that began to record
/// and did nothing are left out, unless there are no others. Throws CaptureError when the
/// folder cannot be read or holds no spool, NoReadableSpool when it holds none that can be read.
Recording merge_spools(const std::string& folder, const MergeOptions& options = {});

}  // namespace gprofml::profile
