#include "injection/control.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

template <class Data>
bool read_at(int descriptor, std::uint64_t offset, Data& data) {
  return pread(descriptor, &data, sizeof data, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof data);
}

}  // namespace

void Control::start(const char* folder, std::uint32_t pid) {
  const int length = std::snprintf(path_, sizeof path_, "%s/%s", folder, spool::kControlName);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path_) path_[0] = '\0';
  pid_ = pid;
}

int Control::open_file(int flags) {
  return open(path_, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

bool Control::read(spool::ControlHeader& header) {
  if (path_[0] == '\0' || !is_there_) return false;
  const int descriptor = open_file(O_RDONLY);
  if (descriptor < 0) {
    is_there_ = errno != ENOENT;
    return false;
  }
  const bool whole = read_at(descriptor, 0, header);
  close(descriptor);
  return whole && std::memcmp(header.magic, spool::kControlMagic, sizeof header.magic) == 0 &&
         header.version == spool::kControlVersion;
}

/// The first free one. Slots are taken under a lock, so that two processes do not take the same.
bool Control::take_slot(int descriptor) {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(spool::control_slot_offset(0));
  if (fcntl(descriptor, F_SETLK, &lock) != 0) return false;  // at the next pass
  for (std::uint32_t slot = 0; slot < spool::kControlSlots; ++slot) {
    spool::ControlSlot there{};
    const std::uint64_t offset = spool::control_slot_offset(slot);
    if (!read_at(descriptor, offset, there)) return false;
    if (there.pid == pid_ && there.ended == 0) {  // ours, before we became another program
      there.ended = 1;
      if (pwrite(descriptor, &there, sizeof there, static_cast<off_t>(offset)) < 0) return false;
    }
    if (there.pid != 0) continue;
    slot_ = slot;
    return true;  // closing the descriptor behind the first answer gives the lock back
  }
  all_are_taken_ = true;
  return false;
}

void Control::answer(spool::ControlSlot slot, std::int64_t now_ns) {
  if (path_[0] == '\0' || !is_there_ || all_are_taken_) return;
  slot.pid = pid_;
  slot.updated_ns = written_.updated_ns;
  const bool same = std::memcmp(&slot, &written_, sizeof slot) == 0;
  if (same && now_ns - written_.updated_ns < spool::kSlotPeriodNs) return;
  slot.updated_ns = now_ns;
  FileSizeSignalBlocked blocked;
  const int descriptor = open_file(O_RDWR);
  if (descriptor < 0) return;
  if (slot_ != kNoSlot || take_slot(descriptor)) {
    const auto offset = static_cast<off_t>(spool::control_slot_offset(slot_));
    const bool whole =
        pwrite(descriptor, &slot, sizeof slot, offset) == static_cast<ssize_t>(sizeof slot);
    if (whole) {
      written_ = slot;
    } else if (errno == EFBIG) {
      blocked.take_signal();
    }
  }
  close(descriptor);
}

}  // namespace gprofml::injection
