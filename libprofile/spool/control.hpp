// The control file: how launcher and `gprof-ml control` talk with the recorders of a recording
// while the program runs. One file `control` in the spool folder, made in full by the launcher (or
// by `gprof-ml env`), read with pread() by every recorder's writer thread in each of its passes (at
// least ten times a second) and answered with pwrite() into the recorder's own slot. It is never
// mapped: a file that somebody cuts short must not kill the program.
//
//   ControlHeader                 written by the commanding side alone, under its own flock()
//   ControlSlot × kControlSlots   each written by one recorder alone
//
// A recorder takes the first slot whose `pid` is 0 (with fcntl(F_SETLK) on the slot's bytes while
// it does so), and keeps it. More processes than slots: the others obey and do not answer.
#pragma once

#include <cstdint>

namespace gprofml::spool {

inline constexpr char kControlName[] = "control";
inline constexpr char kControlMagic[8] = {'G', 'P', 'R', 'F', 'C', 'T', 'R', 'L'};
inline constexpr std::uint32_t kControlSlots = 256;

enum class Wanted : std::uint32_t {
  by_options = 0,  ///< what the options say
  record = 1,
  pause = 2,
};

struct ControlHeader {
  char magic[8];
  std::uint32_t version;     ///< 1
  std::uint32_t generation;  ///< counts commands; a recorder answers with the last it has obeyed
  Wanted wanted;
  std::uint32_t flush_generation;  ///< counts requests to have everything on disk
  std::uint32_t stop;              ///< 1: end the recording (size limit), the program runs on
  std::uint32_t reserved[8];
};
static_assert(sizeof(ControlHeader) == 64);

struct ControlSlot {
  std::uint32_t pid;
  std::uint32_t generation;        ///< of the last command obeyed
  std::uint32_t flush_generation;  ///< of the last flush served
  std::uint32_t is_recording;      ///< 1: a window is open
  std::uint32_t windows_closed;    ///< whose data is complete on disk
  std::uint32_t has_gpu_work;      ///< 1: CUDA was used
  std::int64_t last_window_start_ns;
  std::int64_t last_window_end_ns;
  std::uint64_t spool_bytes;
  std::uint64_t records;
  std::uint64_t lost;       ///< dropped, discarded, lost ranges
  std::uint64_t cost_ppm;   ///< accounted cost of the recording, of wall time
  std::int64_t updated_ns;  ///< CLOCK_REALTIME
  std::uint32_t ended;      ///< 1: by an orderly exit
  std::uint32_t reserved[9];
};
static_assert(sizeof(ControlSlot) == 128);

inline constexpr std::uint64_t control_slot_offset(std::uint32_t slot) {
  return 64 + std::uint64_t{slot} * sizeof(ControlSlot);
}
inline constexpr std::uint64_t kControlBytes = control_slot_offset(kControlSlots);

}  // namespace gprofml::spool
