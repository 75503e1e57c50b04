// The control file: how launcher and `gprof-ml control` talk with the recorders of a recording
// while the program runs. One file `control` in the spool folder, made in full by the launcher (or
// by `gprof-ml env`), read with pread() by every recorder's writer thread in each of its passes (at
// least ten times a second) and answered with pwrite() into the recorder's own slot. It is never
// mapped: a file that somebody cuts short must not kill the program. It is opened anew each time: a
// descriptor kept open would be one that programs close, or write to.
//
//   ControlHeader                 written by the commanding side alone, under its own flock()
//                                 (`gprof-ml control` holds one on the folder, too, from its request
//                                 until the answers have come)
//   ControlSlot × kControlSlots   each written by one recorder alone
//
// A recorder takes the first slot whose `pid` is 0 (with fcntl(F_SETLK) on the slot's bytes while
// it does so), and keeps it. A process that replaced itself (execve) takes a further one and marks
// its old one as ended. More processes than slots: the others obey and do not answer.
//
// A slot is alive while it is not `ended` and was written in the last kSlotFreshNs; a recorder
// writes its slot twice a second when nothing happens.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gprofml::spool {

inline constexpr char kControlName[] = "control";
inline constexpr char kControlMagic[8] = {'G', 'P', 'R', 'F', 'C', 'T', 'R', 'L'};
inline constexpr std::uint32_t kControlVersion = 1;
inline constexpr std::uint32_t kControlSlots = 256;
inline constexpr std::int64_t kSlotPeriodNs = 500'000'000;
inline constexpr std::int64_t kSlotFreshNs = 3'000'000'000;

enum class Wanted : std::uint32_t {
  by_options = 0,  ///< what the options say
  record = 1,
  pause = 2,
};

struct ControlHeader {
  char magic[8];
  std::uint32_t version;
  std::uint32_t generation;  ///< counts commands; a recorder answers with the last it has obeyed
  Wanted wanted;
  std::uint32_t flush_generation;  ///< counts requests to have everything on disk
  std::uint32_t stop;              ///< 1: end the recording (size limit), the program runs on
  std::uint32_t reserved;
  std::int64_t command_ns;  ///< CLOCK_REALTIME of the last command: where all processes' windows
                            ///< begin or end
  std::uint64_t more[3];
};
static_assert(sizeof(ControlHeader) == 64 && offsetof(ControlHeader, stop) == 24 &&
              offsetof(ControlHeader, command_ns) == 32);

struct ControlSlot {
  std::uint32_t pid;
  std::uint32_t generation;        ///< of the last command obeyed: a window that it closed is whole
  std::uint32_t flush_generation;  ///< of the last flush served
  std::uint32_t is_recording;      ///< 1: a window is open, or everything is recorded
  std::uint32_t windows_closed;    ///< whose data is complete on disk
  std::uint32_t has_gpu_work;      ///< 1: CUDA was used
  std::int64_t last_window_start_ns;  ///< of the last complete one, on the recording's clock
  std::int64_t last_window_end_ns;
  std::uint64_t spool_bytes;
  std::uint64_t records;
  std::uint64_t lost;       ///< dropped, discarded, lost ranges
  std::uint64_t cost_ppm;   ///< accounted cost of the recording, of wall time
  std::int64_t updated_ns;  ///< CLOCK_REALTIME
  std::uint32_t ended;      ///< 1: by an orderly exit, or replaced by execve
  std::uint32_t windows_opened;
  std::uint32_t reserved[10];
};
static_assert(sizeof(ControlSlot) == 128 && offsetof(ControlSlot, updated_ns) == 72);

inline constexpr std::uint64_t control_slot_offset(std::uint32_t slot) {
  return sizeof(ControlHeader) + std::uint64_t{slot} * sizeof(ControlSlot);
}
inline constexpr std::uint64_t kControlBytes = control_slot_offset(kControlSlots);

}  // namespace gprofml::spool
