#include "libprofile/capture/pass_on_signals.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>

namespace gprofml::profile {
namespace {

constexpr Nanoseconds kSecondNs = 1'000'000'000;

Nanoseconds monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kSecondNs + time.tv_nsec;
}

class Waiter {
 public:
  Waiter(pid_t program, const sigset_t& waiting, const WaitHooks& hooks)
      : program_(program), waiting_(waiting), hooks_(hooks) {}

  int wait() {
    next_tick_ns_ = monotonic_ns();
    while (!ended_) {
      siginfo_t info{};
      const int signal = next_signal(info);
      if (signal == SIGCHLD) {
        look_at_program();
      } else if (signal > 0) {
        handle(signal, info);
      }
    }
    return *ended_;
  }

 private:
  /// The next signal, after the ticks that are due before it.
  int next_signal(siginfo_t& info) {
    if (!hooks_.tick) return sigwaitinfo(&waiting_, &info);
    for (;;) {
      const Nanoseconds left_ns = next_tick_ns_ - monotonic_ns();
      if (left_ns > 0) {
        const timespec left{left_ns / kSecondNs, left_ns % kSecondNs};
        const int signal = sigtimedwait(&waiting_, &info, &left);
        if (signal > 0 || errno != EAGAIN) return signal;
      }
      hooks_.tick();
      next_tick_ns_ = std::max(next_tick_ns_ + hooks_.period_ns, monotonic_ns());
    }
  }

  /// What the program did since the last look. Signals of children come bundled.
  void look_at_program() {
    int status = 0;
    pid_t found = 0;
    while (!ended_ && (found = waitpid(program_, &status, WNOHANG | WUNTRACED | WCONTINUED)) != 0) {
      if (found < 0) {
        if (errno == EINTR) continue;
        ended_ = 0;  // somebody else took its status; nothing is left to wait for
      } else if (WIFSTOPPED(status)) {
        stopped_ = true;
        follow_stop(WSTOPSIG(status));
      } else if (WIFCONTINUED(status)) {
        stopped_ = false;
      } else {
        ended_ = status;
      }
    }
  }

  /// A stop that comes from the terminal stops the whole job. SIGSTOP is somebody who means the
  /// program alone, and who will continue it alone: then we must be there when it ends.
  void follow_stop(int signal) {
    if (signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU) stop_and_resume();
  }

  void stop_and_resume() {
    raise(SIGSTOP);  // returns when somebody continues us, who may have meant the group or us alone
    const sigset_t continued = only(SIGCONT);
    const timespec no_time{0, 0};
    while (sigtimedwait(&continued, nullptr, &no_time) > 0) {
    }
    note_if_continued();
    if (stopped_) kill(program_, SIGCONT);
    stopped_ = false;
  }

  void note_if_continued() {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(program_), &info, WCONTINUED | WNOHANG) == 0 &&
        info.si_pid == program_) {
      stopped_ = false;
    }
  }

  void handle(int signal, const siginfo_t& info) {
    if (signal == SIGTSTP && stopped_) {
      stop_and_resume();  // Ctrl-Z, and the program is stopped already
      return;
    }
    const bool alone = is_for_us_alone(signal, info);
    if (hooks_.on_signal && may_end(signal) && (alone || info.si_code == SI_KERNEL)) {
      hooks_.on_signal(signal, !alone);
    }
    if (alone) kill(program_, signal);
  }

  static bool may_end(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGQUIT || signal == SIGHUP ||
           signal == SIGUSR1 || signal == SIGUSR2;
  }

  /// What the kernel sends it sends to the group, so the program has it already; but a hang-up goes
  /// to the session's leader alone, and a timer that we inherited is meant for the program.
  static bool is_for_us_alone(int signal, const siginfo_t& info) {
    // SIGPIPE and SIGXFSZ from a write of our own look as if we had sent them.
    if (info.si_code == SI_USER && info.si_pid == getpid()) return false;
    if (info.si_code <= 0) return true;
    if (signal == SIGHUP) return getsid(0) == getpid();
    return signal == SIGALRM;
  }

  static sigset_t only(int signal) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
  }

  pid_t program_;
  const sigset_t& waiting_;
  const WaitHooks& hooks_;
  Nanoseconds next_tick_ns_ = 0;
  bool stopped_ = false;
  std::optional<int> ended_;
};

}  // namespace

int pass_on_signals(pid_t program, const sigset_t& waiting, const WaitHooks& hooks) {
  return Waiter(program, waiting, hooks).wait();
}

}  // namespace gprofml::profile
