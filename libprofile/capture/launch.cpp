#include "libprofile/capture/launch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/pass_on_signals.hpp"

namespace gprofml::profile {
namespace {

constexpr int kNotStarted = 127;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

/// Descriptors from 3 on: 0 to 2 may be closed in what we inherited, and must then stay closed.
int moved_up(int descriptor) {
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  close(descriptor);
  return moved;
}

Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw CaptureError(fmt::format("cannot start a process: pipe: {}", std::strerror(errno)));
  }
  return {moved_up(ends[0]), moved_up(ends[1])};
}

/// Reads until `bytes` are there; false when the other end is closed before that.
bool read_all(int descriptor, void* into, std::size_t bytes) {
  char* at = static_cast<char*>(into);
  while (bytes > 0) {
    const ssize_t n = read(descriptor, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
  return true;
}

void write_all(int descriptor, const void* from, std::size_t bytes) {
  const char* at = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t n = write(descriptor, at, bytes);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // the child is gone, which `wait` will find
    at += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

/// What goes through the gate: a length, then NAME\0VALUE\0 … .
std::string packed(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    text += name;
    text += '\0';
    text += value;
    text += '\0';
  }
  return text;
}

void set_variables(const std::string& text) {
  for (const char* at = text.data(); at < text.data() + text.size();) {
    const char* const name = at;
    const char* const value = name + std::strlen(name) + 1;
    setenv(name, value, 1);
    at = value + std::strlen(value) + 1;
  }
}

/// The child's side: never returns, and never runs what the parent has registered for its exit.
[[noreturn]] void become(const std::vector<std::string>& command, const SignalRelay& relay,
                         const std::vector<std::pair<int, int>>& replaced, int gate, int status) {
  std::uint64_t bytes = 0;
  if (!read_all(gate, &bytes, sizeof bytes)) _exit(kNotStarted);
  std::string variables(bytes, '\0');
  if (!read_all(gate, variables.data(), bytes)) _exit(kNotStarted);
  set_variables(variables);
  for (const auto& [ours, theirs] : replaced) dup2(ours, theirs);
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  relay.restore();
  execvp(arguments[0], arguments.data());
  const int reason = errno;
  write_all(status, &reason, sizeof reason);
  _exit(kNotStarted);
}

Nanoseconds now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return time.tv_sec * Nanoseconds{1'000'000'000} + time.tv_nsec;
}

/// The launcher opens files later; none of them may become standard output.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2;) {
    descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (descriptor > 2) close(descriptor);
    if (descriptor < 0) return;
  }
}

}  // namespace

Program::Program(const std::vector<std::string>& command, const SignalRelay& relay,
                 const std::vector<std::pair<int, int>>& replaced)
    : relay_(relay) {
  const Pipe gate = make_pipe();
  const Pipe status = make_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    close(gate.write_end);
    close(status.read_end);
    become(command, relay, replaced, gate.read_end, status.write_end);
  }
  const int reason = errno;
  close(gate.read_end);
  close(status.write_end);
  gate_ = gate.write_end;
  status_ = status.read_end;
  if (pid_ < 0) {
    close(gate_);
    close(status_);
    throw CaptureError(fmt::format("cannot start a process: {}", std::strerror(reason)));
  }
  occupy_standard_descriptors();
}

Program::~Program() {
  if (gate_ >= 0) close(gate_);
  if (status_ >= 0) {  // not started: with the gate closed it ends by itself
    close(status_);
    reap();
  }
}

void Program::reap() {
  int ignored = 0;
  while (waitpid(pid_, &ignored, 0) < 0 && errno == EINTR) {
  }
}

int Program::start(const std::map<std::string, std::string>& variables) {
  const std::string text = packed(variables);
  const std::uint64_t bytes = text.size();
  start_realtime_ns_ = now_ns(CLOCK_REALTIME);
  start_monotonic_ns_ = now_ns(CLOCK_MONOTONIC);
  write_all(gate_, &bytes, sizeof bytes);
  write_all(gate_, text.data(), text.size());
  close(gate_);
  gate_ = -1;
  int reason = 0;
  const bool failed = read_all(status_, &reason, sizeof reason);
  close(status_);
  status_ = -1;
  if (!failed) return 0;  // exec closed the pipe
  reap();
  return reason;
}

ProgramEnd Program::wait(const WaitHooks& hooks) {
  const int status = pass_on_signals(pid_, relay_.waiting(), hooks);
  ProgramEnd end;
  end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.start_ns = start_realtime_ns_;
  end.wall_ns = now_ns(CLOCK_MONOTONIC) - start_monotonic_ns_;
  return end;
}

}  // namespace gprofml::profile
