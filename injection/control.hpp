// The recorder's side of the control file (libprofile/spool/control.hpp). The writer thread's
// alone.
#pragma once

#include <cstdint>

#include "libprofile/spool/control.hpp"

namespace gprofml::injection {

class Control {
 public:
  void start(const char* folder, std::uint32_t pid);

  /// Reads what is wanted. False: there is no control file that can be read.
  bool read(spool::ControlHeader& header);

  /// Writes our slot, when something but its time differs from what was last written or it is time
  /// to show that we live. Takes one first when we have none.
  void answer(spool::ControlSlot slot, std::int64_t now_ns);

 private:
  static constexpr std::uint32_t kNoSlot = 0xffffffffu;

  int open_file(int flags);
  bool take_slot(int descriptor);

  char path_[4096];  ///< empty: none
  std::uint32_t pid_ = 0;
  std::uint32_t slot_ = kNoSlot;
  bool is_there_ = true;  ///< false: it was not there at the start, and nobody will make one
  bool all_are_taken_ = false;
  spool::ControlSlot written_ = {};
};

}  // namespace gprofml::injection
