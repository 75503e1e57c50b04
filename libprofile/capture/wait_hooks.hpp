// What the launcher does beside waiting for the program.
#pragma once

#include <functional>

#include "libprofile/trace/time.hpp"

namespace gprofml::profile {

/// Called by the thread that waits. While a hook runs no signal is handed on and the program's end
/// is not seen, so a hook is short; it neither throws nor waits for children that it did not start.
/// Empty functions are not called.
struct WaitHooks {
  Nanoseconds period_ns = 100'000'000;
  /// As often as `period_ns` says, until the program has ended. A call that comes late does not
  /// bring further ones with it.
  std::function<void()> tick;
  /// Before a signal is handed on to the program; `has_it` when it has had it from somebody else
  /// already (a terminal's Ctrl-C reaches the whole group). Not for what stops or continues.
  std::function<void(int signal, bool has_it)> on_signal;
};

}  // namespace gprofml::profile
