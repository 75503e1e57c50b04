#include "injection/last_threads.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "injection/system.hpp"

namespace gprofml::injection {
namespace {

constexpr int kMostOfOurs = 8;
/// With the process each belongs to: a forked child inherits the list, but not the threads.
std::atomic<std::uint64_t> ours[kMostOfOurs];

std::uint64_t key_of(int process, int thread) {
  return std::uint64_t{static_cast<std::uint32_t>(process)} << 32 |
         static_cast<std::uint32_t>(thread);
}

bool is_ours(int process, int thread) {
  for (const auto& known : ours) {
    if (known.load(std::memory_order_relaxed) == key_of(process, thread)) return true;
  }
  return false;
}

/// "PID (name) STATE …"; the name may hold anything.
bool main_thread_has_ended(int process) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", process);
  char text[256];
  const std::size_t size = read_file(path, text, sizeof text - 1);
  text[size] = '\0';
  const char* name_end = std::strrchr(text, ')');
  return name_end != nullptr && name_end[1] == ' ' && name_end[2] == 'Z';
}

// What getdents64 gives; glibc has no declaration of it as old as we need.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

int number(const char* text) {
  int value = 0;
  for (; *text >= '0' && *text <= '9'; ++text) value = value * 10 + (*text - '0');
  return *text == '\0' ? value : 0;
}

/// False, too, when it cannot be known.
bool others_have_ended(int process) {
  const int folder = open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(Entry) char buffer[2048];
  bool alone = true;
  long size = 0;
  while (alone && (size = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      const int thread = number(entry->name);
      if (thread != 0 && thread != process && !is_ours(process, thread)) alone = false;
      at += entry->bytes;
    }
  }
  close(folder);
  return alone && size == 0;
}

}  // namespace

void this_thread_is_ours() {
  const std::uint64_t key = key_of(getpid(), static_cast<int>(syscall(SYS_gettid)));
  for (auto& known : ours) {
    std::uint64_t seen = known.load(std::memory_order_relaxed);
    const bool is_free = seen == 0 || static_cast<int>(seen >> 32) != getpid();
    if (is_free && known.compare_exchange_strong(seen, key, std::memory_order_relaxed)) return;
  }
}

bool we_are_alone() {
  const int process = getpid();
  return main_thread_has_ended(process) && others_have_ended(process);
}

}  // namespace gprofml::injection
