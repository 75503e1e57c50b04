// The commanding side of the control file (libprofile/spool/control.hpp): launcher and `gprof-ml
// control`. Every function opens the file anew; it may be used by several processes at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libprofile/spool/control.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

class ControlFile {
 public:
  explicit ControlFile(const std::string& folder);

  /// Makes the file; false, with errno, when that fails. Recorders then know no commands.
  bool make() const;

  /// The header; nullopt when there is no such file, or it is none of ours.
  std::optional<spool::ControlHeader> header() const;

  /// Has everything recorded, or nothing, from now on. The generation that recorders answer with
  /// when they have obeyed; nullopt when the file cannot be written.
  std::optional<std::uint32_t> command(spool::Wanted wanted) const;
  /// Asks for everything that is finished to be put on the disk. As `command`.
  std::optional<std::uint32_t> ask_for_flush() const;

  /// The recorders that have answered so far, dead ones too.
  std::vector<spool::ControlSlot> slots() const;

 private:
  std::optional<std::uint32_t> change(
      const std::function<std::uint32_t(spool::ControlHeader&)>& to) const;

  std::string path_;
};

/// Whether the recorder of a slot still answers.
bool is_alive(const spool::ControlSlot& slot, Nanoseconds realtime_ns);

/// Waits until `has_answered` is true of every living recorder, or the time is over; false then.
bool await_recorders(const ControlFile& file, Nanoseconds timeout_ns,
                     const std::function<bool(const spool::ControlSlot&)>& has_answered);

Nanoseconds realtime_now_ns();

}  // namespace gprofml::profile
