// Starts the program and lives beside it until it ends, so that to the program, to its terminal and
// to whoever started us it is as if it ran alone.
//
// The program stays in our process group: a terminal's Ctrl-C and Ctrl-Z reach both of us, and a
// scheduler that kills the group kills both. While it runs we ignore what the terminal sends to
// the group, and hand on what somebody sends to us alone. When it stops we stop, so that a shell
// sees a stopped job; when we are continued it is. When we die it runs on.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "libprofile/capture/wait_hooks.hpp"
#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// How a program ended.
struct ProgramEnd {
  int exit_code = 0;         ///< where `signal` is 0
  int signal = 0;            ///< 0: it exited
  Nanoseconds start_ns = 0;  ///< CLOCK_REALTIME
  Nanoseconds wall_ns = 0;

  /// As a shell gives it: the exit code, or 128 and the signal.
  int code() const { return signal != 0 ? 128 + signal : exit_code; }
};

/// Signals are kept waiting in this process from its construction to its end, and handed to the
/// program by `Program::wait`. What is still waiting at the end is dropped: it was the program's.
class SignalRelay {
 public:
  SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;
  ~SignalRelay();

  const sigset_t& waiting() const { return waiting_; }
  /// Sets back what this process inherited; for the child, which must not know of us.
  void restore() const;

 private:
  sigset_t waiting_;
  sigset_t inherited_mask_;
  struct sigaction inherited_child_action_;
};

/// A child process that waits until it is told to become the program: its process id can be part
/// of names that must be known before. Needs a SignalRelay, as long-lived. When this is destroyed
/// before `start`, or its process dies, the child ends without having done anything.
class Program {
 public:
  /// Forks. `command` is a program, looked up in PATH, and its arguments. `replaced` are pairs of a
  /// descriptor of ours and what it becomes in the program. Throws CaptureError.
  Program(const std::vector<std::string>& command, const SignalRelay& relay,
          const std::vector<std::pair<int, int>>& replaced = {});
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  pid_t pid() const { return pid_; }

  /// Lets it become the program, with these variables added to our environment. 0, or the errno
  /// with which it could not be executed; then the child is gone.
  int start(const std::map<std::string, std::string>& variables);

  /// Waits for the end of a started program.
  ProgramEnd wait(const WaitHooks& hooks = {});

 private:
  void reap();

  const SignalRelay& relay_;
  pid_t pid_ = -1;
  int gate_ = -1;    ///< the variables go through here
  int status_ = -1;  ///< an errno comes back when exec fails, else nothing
  Nanoseconds start_realtime_ns_ = 0;
  Nanoseconds start_monotonic_ns_ = 0;
};

}  // namespace gprofml::profile
