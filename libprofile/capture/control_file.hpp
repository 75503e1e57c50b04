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

/// Held by one `gprof-ml control` from its request until the answers have come: a request that came
/// in between would replace one that not every recorder has read. It is not the lock under which
/// the header is written, for a launcher that flushes before it passes a signal on must not wait.
class ControlTurn {
 public:
  /// Waits for its turn so long. Where the folder cannot be locked (some network file systems)
  /// everybody has the turn.
  ControlTurn(const std::string& folder, Nanoseconds timeout_ns);
  ControlTurn(const ControlTurn&) = delete;
  ControlTurn& operator=(const ControlTurn&) = delete;
  ~ControlTurn();

  /// False: another held it all the time.
  bool is_ours() const { return is_ours_; }

 private:
  int folder_;
  bool is_ours_ = true;
};

/// Whether a recorder that answers with `answer` has obeyed request `asked`, or a later one.
inline bool has_reached(std::uint32_t answer, std::uint32_t asked) {
  return answer - asked < 0x80000000U;
}

/// Whether the recorder of a slot still answers.
bool is_alive(const spool::ControlSlot& slot, Nanoseconds realtime_ns);

/// Waits until `has_answered` is true of every living recorder, or the time is over; false then.
bool await_recorders(const ControlFile& file, Nanoseconds timeout_ns,
                     const std::function<bool(const spool::ControlSlot&)>& has_answered);

Nanoseconds realtime_now_ns();

}  // namespace gprofml::profile
