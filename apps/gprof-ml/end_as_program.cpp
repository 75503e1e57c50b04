#include "apps/gprof-ml/end_as_program.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>

namespace gprofml::app {

void end_as_program(const profile::ProgramEnd& end) {
  if (end.signal != SIGINT && end.signal != SIGQUIT) return;
  std::fflush(nullptr);
  prctl(PR_SET_DUMPABLE, 0);  // holds where a pipe takes the cores too, which RLIMIT_CORE does not
  ::signal(end.signal, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, end.signal);
  raise(end.signal);  // waits where it is blocked
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace gprofml::app
