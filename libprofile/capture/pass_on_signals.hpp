// The launcher's wait: for the program's end, and for signals meanwhile.
#pragma once

#include <sys/types.h>

#include <csignal>

#include "libprofile/capture/wait_hooks.hpp"

namespace gprofml::profile {

/// Waits for the child `program` and returns its wait status. Signals of `waiting` (blocked by the
/// caller, SIGCHLD among them) are handed on as launch.hpp says; other children are left alone.
int pass_on_signals(pid_t program, const sigset_t& waiting, const WaitHooks& hooks = {});

}  // namespace gprofml::profile
