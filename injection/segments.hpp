// Keeping only the last part of a recording (--keep-last): the flight recorder.
//
//   NAME.spool                   what lasts: names, launch configurations, threads, graphs, facts …
//   NAME.spool.00000007.segment  what happened, the older part
//   NAME.spool.00000008.segment  the newer part, being written
//
// When the newer segment is as old as what is to be kept, a new one is begun and the older of the
// two is deleted: what happened in the last DURATION is always on the disk, and never more than
// twice that. Everything is told after it has ended, so what reaches into the last DURATION was
// written in it. A segment begins with the ranges that were open then (open_ranges.hpp). The writer
// thread's alone.
#pragma once

#include <cstdint>

#include "injection/open_ranges.hpp"
#include "injection/spool_file.hpp"

namespace gprofml::injection {

struct Recorder;

class Segments {
 public:
  /// Where only the last part is to be kept: makes the first segment. Without one everything is
  /// written to the spool, and the reader cuts.
  void start(Recorder& recorder);

  /// Begins a new segment and deletes the oldest, where it is time to. True: it did, and totals
  /// should be said anew.
  bool switch_when_due(Recorder& recorder);

  /// Of the segments that there are.
  std::uint64_t bytes() const;
  /// In a forked child: lets go of the parent's files.
  void abandon();

 private:
  static constexpr std::uint32_t kFiles = 3;

  SpoolFile& file(std::uint32_t index) { return files_[index % kFiles]; }
  bool is_due(const Recorder& recorder) const;
  void begin(Recorder& recorder, std::uint32_t index);

  bool is_on_ = false;
  bool failure_is_noted_ = false;
  std::uint32_t newest_ = 0;   ///< index of the segment that is being written
  std::int64_t begun_ns_ = 0;  ///< when, on the monotonic clock
  OpenRanges* open_ranges_ = nullptr;
  SpoolFile files_[kFiles];
};

}  // namespace gprofml::injection
