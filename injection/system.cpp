#include "injection/system.hpp"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace gprofml::injection {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kNsPerSecond + now.tv_nsec;
}

}  // namespace

std::int64_t realtime_ns() {
  return clock_ns(CLOCK_REALTIME);
}
std::int64_t monotonic_ns() {
  return clock_ns(CLOCK_MONOTONIC);
}

std::int64_t growing_period_ns(std::int64_t age_ns) {
  constexpr std::int64_t kShortest = 2'000'000;
  constexpr std::int64_t kLongest = 100'000'000;
  const std::int64_t share = age_ns / 8;
  return share < kShortest ? kShortest : share > kLongest ? kLongest : share;
}

std::uint64_t thread_cpu_ns() {
  return static_cast<std::uint64_t>(clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

std::uint32_t current_tid() {
  return static_cast<std::uint32_t>(syscall(SYS_gettid));
}

std::uint64_t random_number() {
  std::uint64_t number = 0;
  if (syscall(SYS_getrandom, &number, sizeof number, 0) == sizeof number) return number;
  return static_cast<std::uint64_t>(realtime_ns()) * 0x9e3779b97f4a7c15u ^ current_tid();
}

void* map_memory(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // The first touch may come from the program's thread: it shall zero 4 KiB there, not 2 MiB.
  madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

void unmap_memory(void* memory, std::size_t bytes) {
  munmap(memory, bytes);
}

std::size_t read_file(const char* path, char* text, std::size_t room) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::size_t size = 0;
  while (size < room) {
    const ssize_t got = read(file, text + size, room - size);
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  close(file);
  return size;
}

void complain(const char* what, const char* detail) {
  const char* verbose = getenv("GPROFML_VERBOSE");
  if (verbose == nullptr || strcmp(verbose, "1") != 0) return;
  FileSizeSignalBlocked blocked;
  if (dprintf(STDERR_FILENO, "gprof-ml: %s: %s\n", what, detail) < 0 && errno == EFBIG) {
    blocked.take_signal();
  }
}

namespace {

sigset_t file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

FileSizeSignalBlocked::FileSizeSignalBlocked() {
  const sigset_t set = file_size_signal();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
  sigset_t pending;
  was_pending_ = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

FileSizeSignalBlocked::~FileSizeSignalBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void FileSizeSignalBlocked::take_signal() {
  if (was_pending_) return;
  const int saved_errno = errno;
  const sigset_t set = file_size_signal();
  const timespec at_once{0, 0};
  while (sigtimedwait(&set, nullptr, &at_once) < 0 && errno == EINTR) {
  }
  errno = saved_errno;
}

void Signal::raise() {
  word_.fetch_add(1, std::memory_order_acq_rel);
  syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 0x7fffffff, nullptr, nullptr, 0);
}

void Signal::wait(std::uint32_t seen, std::int64_t timeout_ns) {
  const timespec timeout{timeout_ns / kNsPerSecond, timeout_ns % kNsPerSecond};
  syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, seen, &timeout, nullptr, 0);
}

bool start_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int failed = pthread_create(&thread, &attributes, body, argument);
  // A program with much thread-local storage leaves no room on a small stack.
  if (failed != 0) failed = pthread_create(&thread, nullptr, body, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (failed != 0) return false;
  pthread_detach(thread);
  return true;
}

}  // namespace gprofml::injection
