// What a pass of the writer does about windows and commands.
//
//   obey()      commands, ranges, time: which windows are open; before anything is written
//   conclude()  which windows are settled; once everything that came is on its way
//   answer()    tells in the control file; once that has reached the disk
#pragma once

#include <cstdint>

#include "injection/control.hpp"
#include "injection/thread_ranges.hpp"
#include "injection/windows.hpp"

namespace gprofml::injection {

struct Recorder;

class WindowPass {
 public:
  void start(Recorder& recorder, const char* folder);

  /// To be called before the buffers that have come back are taken.
  void begin(Recorder& recorder);
  void obey(Recorder& recorder);
  void conclude(Recorder& recorder, bool everything_is_back);
  void answer(Recorder& recorder, bool ended);

  /// Whether an event of a ring is written.
  bool is_wanted(EventRing& ring, const EventHeader& event) {
    return !windows.is_on() || ranges_.is_wanted(ring, event, windows);
  }

  /// Somebody has said whether it is recorded.
  bool is_commanded() const {
    return is_controlled_ && header_.wanted != spool::Wanted::by_options;
  }
  /// Somebody wants the recording to end.
  bool is_stopped() const { return is_controlled_ && header_.stop != 0; }

  Windows windows;

 private:
  void say_news(Recorder& recorder);
  void serve_flush(Recorder& recorder);

  Control control_;
  RangesOfThreads ranges_;
  spool::ControlHeader header_;
  bool is_controlled_;
  std::uint32_t obeyed_;       ///< generation of the last command
  std::uint32_t answered_;     ///< the same, with the windows that it closed complete
  std::uint32_t flush_asked_;  ///< generation of the flush that is under way
  std::uint32_t flush_served_;
  std::uint32_t flush_rounds_;  ///< of CUPTI, that it waits for
  std::uint64_t oldest_out_;    ///< as this pass began
  std::uint64_t cpu_ns_;        ///< of the writer, as last answered
};

}  // namespace gprofml::injection
