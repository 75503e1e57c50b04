// The few things of the operating system that the library needs, none of which may fail loudly.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gprofml::injection {

std::int64_t realtime_ns();
std::int64_t monotonic_ns();
/// How long a thread of ours sleeps, by how long it has been at work (ns, both): programs that live
/// for a few milliseconds (workers that end in _exit) keep most of what they recorded, and those
/// that live long are woken ten times a second.
std::int64_t growing_period_ns(std::int64_t age_ns);
/// CPU time of the calling thread.
std::uint64_t thread_cpu_ns();

std::uint32_t current_tid();
std::uint64_t random_number();

/// Zeroed pages that are never given back, nullptr when there are none. Not malloc: the program
/// may have replaced it, and what is mapped here survives every destructor.
void* map_memory(std::size_t bytes);
void unmap_memory(void* memory, std::size_t bytes);

/// Content of a small file (of /proc), at most `room` bytes; bytes read, 0 when it cannot be read.
std::size_t read_file(const char* path, char* text, std::size_t room);

/// One line on stderr, only under GPROFML_VERBOSE=1: the terminal belongs to the program.
void complain(const char* what, const char* detail);

/// While it lives a write beyond RLIMIT_FSIZE does not end the program: the kernel sends SIGXFSZ to
/// the thread that writes, and some of our writes are made on the program's threads.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked();
  ~FileSizeSignalBlocked();
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;
  /// A write has failed with EFBIG: takes the signal that it raised away. One that the program had
  /// pending before stays.
  void take_signal();

 private:
  sigset_t before_;
  bool was_pending_;
};

/// A counter that threads can sleep on: whoever waits says which value it has seen.
class Signal {
 public:
  std::uint32_t value() const { return word_.load(std::memory_order_acquire); }
  /// Counts up and wakes all that wait. Lock-free; one system call.
  void raise();
  /// Sleeps until the value is no longer `seen` or the time is over.
  void wait(std::uint32_t seen, std::int64_t timeout_ns);

 private:
  std::atomic<std::uint32_t> word_{0};
};

/// Starts a detached thread with all signals blocked: no handler of the program may run on it, and
/// a SIGXFSZ that our own write raises must not end the program. False when there is no thread.
bool start_thread(void* (*body)(void*), void* argument, std::size_t stack_bytes);

}  // namespace gprofml::injection
