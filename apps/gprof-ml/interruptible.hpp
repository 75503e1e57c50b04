// Ctrl-C while a run.db is written: stop at a place where nothing is left half done.
#pragma once

#include <csignal>
#include <exception>

namespace gprofml::app {

/// Thrown where work was asked to stop.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

/// In its scope the first SIGINT, SIGTERM or SIGHUP only asks; a second one of the same kind ends
/// the process. Signals that this process ignores stay ignored. One at a time.
class Interruptible {
 public:
  Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

  /// Throws Interrupted when somebody asked.
  static void check();
  static bool asked_to_stop();

 private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

  struct sigaction before_[3];
};

}  // namespace gprofml::app
