#include "libprofile/capture/control_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace gprofml::profile {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

Nanoseconds now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * Nanoseconds{1'000'000'000} + time.tv_nsec;
}

template <typename Data>
bool read_at(int descriptor, std::uint64_t offset, Data& data) {
  return pread(descriptor, &data, sizeof data, static_cast<off_t>(offset)) ==
         static_cast<ssize_t>(sizeof data);
}

bool is_ours(const spool::ControlHeader& header) {
  return std::memcmp(header.magic, spool::kControlMagic, sizeof header.magic) == 0 &&
         header.version == spool::kControlVersion;
}

}  // namespace

ControlFile::ControlFile(const std::string& folder) : path_(folder + "/" + spool::kControlName) {}

bool ControlFile::make() const {
  const Descriptor file(
      open(path_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return false;
  // In full, so that recorders under a limit of the file size, or on a full disk, can still answer.
  std::string bytes(spool::kControlBytes, '\0');
  spool::ControlHeader header{};
  std::memcpy(header.magic, spool::kControlMagic, sizeof header.magic);
  header.version = spool::kControlVersion;
  std::memcpy(bytes.data(), &header, sizeof header);
  const ssize_t written = write(file.get(), bytes.data(), bytes.size());
  if (written == static_cast<ssize_t>(bytes.size())) return true;
  const int reason = written < 0 ? errno : ENOSPC;
  unlink(path_.c_str());
  errno = reason;
  return false;
}

std::optional<spool::ControlHeader> ControlFile::header() const {
  const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  spool::ControlHeader header{};
  if (!file || !read_at(file.get(), 0, header) || !is_ours(header)) return std::nullopt;
  return header;
}

std::optional<std::uint32_t> ControlFile::change(
    const std::function<std::uint32_t(spool::ControlHeader&)>& to) const {
  const Descriptor file(open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  spool::ControlHeader header{};
  if (!file) return std::nullopt;
  flock(file.get(), LOCK_EX);
  if (!read_at(file.get(), 0, header) || !is_ours(header)) return std::nullopt;
  const std::uint32_t stop_before = header.stop;
  const std::uint32_t generation = to(header);
  header.stop |= stop_before;
  if (pwrite(file.get(), &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header)) {
    return std::nullopt;
  }
  return generation;
}

std::optional<std::uint32_t> ControlFile::command(spool::Wanted wanted) const {
  return change([wanted](spool::ControlHeader& header) {
    header.wanted = wanted;
    header.command_ns = now_ns(CLOCK_REALTIME);
    return ++header.generation;
  });
}

std::optional<std::uint32_t> ControlFile::ask_for_flush() const {
  return change([](spool::ControlHeader& header) { return ++header.flush_generation; });
}

std::vector<spool::ControlSlot> ControlFile::slots() const {
  std::vector<spool::ControlSlot> slots;
  const Descriptor file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return slots;
  for (std::uint32_t number = 0; number < spool::kControlSlots; ++number) {
    spool::ControlSlot slot{};
    if (!read_at(file.get(), spool::control_slot_offset(number), slot) || slot.pid == 0) break;
    slots.push_back(slot);
  }
  return slots;
}

ControlTurn::ControlTurn(const std::string& folder, Nanoseconds timeout_ns)
    : folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  const Nanoseconds deadline_ns = now_ns(CLOCK_MONOTONIC) + timeout_ns;
  while (folder_ >= 0 && flock(folder_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return;
    if (now_ns(CLOCK_MONOTONIC) >= deadline_ns) {
      is_ours_ = false;
      return;
    }
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}

ControlTurn::~ControlTurn() {
  if (folder_ >= 0) close(folder_);
}

Nanoseconds realtime_now_ns() {
  return now_ns(CLOCK_REALTIME);
}

bool is_alive(const spool::ControlSlot& slot, Nanoseconds realtime_ns) {
  return slot.ended == 0 && realtime_ns - slot.updated_ns < spool::kSlotFreshNs;
}

bool await_recorders(const ControlFile& file, Nanoseconds timeout_ns,
                     const std::function<bool(const spool::ControlSlot&)>& has_answered) {
  const Nanoseconds deadline_ns = now_ns(CLOCK_MONOTONIC) + timeout_ns;
  for (;;) {
    const std::vector<spool::ControlSlot> slots = file.slots();
    const Nanoseconds realtime_ns = realtime_now_ns();
    const bool all = std::all_of(slots.begin(), slots.end(), [&](const spool::ControlSlot& slot) {
      return !is_alive(slot, realtime_ns) || has_answered(slot);
    });
    if (all) return true;
    if (now_ns(CLOCK_MONOTONIC) >= deadline_ns) return false;
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}

}  // namespace gprofml::profile
