#include <ctime>

#include "libprofile/capture/launch.hpp"

namespace gprofml::profile {
namespace {

/// Everything but what a fault of our own raises.
sigset_t signals_of_others() {
  sigset_t set;
  sigfillset(&set);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
    sigdelset(&set, signal);
  }
  return set;
}

}  // namespace

SignalRelay::SignalRelay() : waiting_(signals_of_others()) {
  // Where it is ignored, as some start us, the status of a child would be thrown away.
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &usual, &inherited_child_action_);
  pthread_sigmask(SIG_BLOCK, &waiting_, &inherited_mask_);
}

SignalRelay::~SignalRelay() {
  const timespec no_time{0, 0};
  while (sigtimedwait(&waiting_, nullptr, &no_time) > 0) {
  }
  restore();
}

void SignalRelay::restore() const {
  sigaction(SIGCHLD, &inherited_child_action_, nullptr);
  pthread_sigmask(SIG_SETMASK, &inherited_mask_, nullptr);
}

}  // namespace gprofml::profile
