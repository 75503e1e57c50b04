#include "test/simgpu/engine/log.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "test/simgpu/engine/observer.hpp"

namespace gprofml::simgpu {
namespace {

constexpr std::size_t kBufferBytes = 1U << 20U;

struct Log {
  std::mutex mutex;
  std::string buffer;
  int file = -1;
  bool opened = false;
  // Once exit() runs, only its thread writes: the kernel cuts a write of another thread at a page's
  // boundary when the process ends.
  bool is_ending = false;
  pthread_t ender{};
};

/// Whether the next line is to be on the disk before the program goes on.
bool writes_at_once(const Log& log) {
  return log.is_ending ? pthread_equal(log.ender, pthread_self()) != 0
                       : !clock_is_virtual() || log.buffer.size() > kBufferBytes;
}

Log& the_log() {
  static auto* log = new Log;  // used until the very end of the process
  return *log;
}

const char* log_setting() {
  static const char* path = [] {
    const char* value = std::getenv("GPROFML_SIMGPU_LOG");
    return value != nullptr && *value != '\0' ? strdup(value) : nullptr;
  }();
  return path;
}

/// The path with %p as the process id.
std::string log_path() {
  std::string path = log_setting();
  const std::string pid = std::to_string(getpid());
  for (std::size_t at = path.find("%p"); at != std::string::npos; at = path.find("%p", at)) {
    path.replace(at, 2, pid);
  }
  return path;
}

/// Opens the file. A second process with the same path gets the path with its own id added.
int open_log() {
  std::string path = log_path();
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0 && errno == EEXIST) {
    path += '.' + std::to_string(getpid());
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  }
  if (file < 0) {
    std::fprintf(stderr, "simgpu: cannot write the log %s: %s\n", path.c_str(), strerror(errno));
    return -1;
  }
  // Out of the way of programs that count on small numbers for their own files.
  const int high = fcntl(file, F_DUPFD_CLOEXEC, 500);
  if (high >= 0) {
    close(file);
    return high;
  }
  return file;
}

void write_buffer(Log& log) {
  if (!log.opened && !log.buffer.empty()) {
    log.opened = true;
    log.file = open_log();
  }
  const char* data = log.buffer.data();
  std::size_t left = log.buffer.size();
  while (log.file >= 0 && left > 0) {
    const ssize_t written = write(log.file, data, left);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      std::fprintf(stderr, "simgpu: writing the log failed: %s\n", strerror(errno));
      log.file = -1;
      break;
    }
    data += written;
    left -= static_cast<std::size_t>(written);
  }
  log.buffer.clear();
}

/// Threads that call exit() at once each take the next handler, and the last one through ends the
/// process, whatever the others are in the middle of. Enough handlers, and all wait for the lock.
constexpr int kThreadsThatExit = 32;

[[gnu::constructor]] void flush_at_exit() {
  for (int i = 0; i < kThreadsThatExit; ++i) {
    std::atexit([] {
      Log& log = the_log();
      const std::lock_guard lock(log.mutex);
      log.is_ending = true;
      log.ender = pthread_self();
      if (log_wanted()) {
        write_buffer(log);
      }
    });
  }
}

/// What other threads did since. After this nothing is written, so that nothing is cut off.
[[gnu::destructor]] void last_flush() {
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  if (log_wanted()) {
    write_buffer(log);
  }
}

template <class Function>
Function next_function(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

bool log_wanted() {
  return log_setting() != nullptr;
}

void log_line(std::string line) {
  if (!log_wanted()) {
    return;
  }
  line += '\n';
  Log& log = the_log();
  const std::lock_guard lock(log.mutex);
  log.buffer += line;
  if (writes_at_once(log)) {
    write_buffer(log);
  }
}

void log_thread(std::uint32_t ordinal, std::uint32_t tid) {
  static const bool wanted = std::getenv("GPROFML_SIMGPU_LOG_IDS") != nullptr;
  if (wanted) {
    log_line("{\"type\":\"thread\",\"thread\":" + std::to_string(ordinal) +
             ",\"pid\":" + std::to_string(getpid()) + ",\"tid\":" + std::to_string(tid) + "}");
  }
}

void log_flush() {
  if (log_wanted()) {
    Log& log = the_log();
    const std::lock_guard lock(log.mutex);
    write_buffer(log);
  }
}

void log_forget() {
  // Another thread may have held the lock at the fork, hence a new object instead of the lock.
  Log& log = the_log();
  new (&log) Log;
}

std::string json_string(const char* text) {
  std::string result = "\"";
  for (const char* at = text != nullptr ? text : ""; *at != '\0'; ++at) {
    const auto byte = static_cast<unsigned char>(*at);
    if (byte == '"' || byte == '\\') {
      result += '\\';
      result += *at;
    } else if (byte < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
      result += escaped;
    } else {
      result += *at;
    }
  }
  return result + '"';
}

}  // namespace gprofml::simgpu

// None of these returns, as <unistd.h> and <stdlib.h> say.
// Ways out of a process on which no exit handler runs. glibc's own exit() does not come here.
extern "C" {

void _exit(int status) {
  gprofml::simgpu::log_flush();
  syscall(SYS_exit_group, status);
  __builtin_unreachable();
}

void _Exit(int status) noexcept {
  _exit(status);
}

void quick_exit(int status) noexcept {
  gprofml::simgpu::log_flush();
  gprofml::simgpu::next_function<void (*)(int)>("quick_exit")(status);
  __builtin_unreachable();
}

void abort() noexcept {
  gprofml::simgpu::log_flush();
  gprofml::simgpu::next_function<void (*)()>("abort")();
  __builtin_unreachable();
}

int execve(const char* path, char* const arguments[], char* const environment[]) noexcept {
  gprofml::simgpu::log_flush();
  using Execve = int (*)(const char*, char* const*, char* const*);
  return gprofml::simgpu::next_function<Execve>("execve")(path, arguments, environment);
}

int execv(const char* path, char* const arguments[]) noexcept {
  return execve(path, arguments, environ);
}

int execvp(const char* file, char* const arguments[]) noexcept {
  gprofml::simgpu::log_flush();
  using Execvp = int (*)(const char*, char* const*);
  return gprofml::simgpu::next_function<Execvp>("execvp")(file, arguments);
}

}  // extern "C"
