#include "apps/gprof-ml/interruptible.hpp"

#include <cstddef>
#include <iterator>

namespace gprofml::app {
namespace {

volatile sig_atomic_t asked = 0;  // what a signal handler can reach

void ask(int) {
  asked = 1;
}

}  // namespace

Interruptible::Interruptible() {
  asked = 0;
  struct sigaction action {};
  action.sa_handler = ask;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler == SIG_DFL) sigaction(kSignals[i], &action, nullptr);
  }
}

Interruptible::~Interruptible() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], &before_[i], nullptr);
  }
}

void Interruptible::check() {
  if (asked_to_stop()) throw Interrupted();
}

bool Interruptible::asked_to_stop() {
  return asked != 0;
}

}  // namespace gprofml::app
