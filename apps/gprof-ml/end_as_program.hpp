// Ctrl-C that killed the program must end a shell's loop around `gprof-ml run` as well.
#pragma once

#include "libprofile/capture/launch.hpp"

namespace gprofml::app {

/// When a signal from the keyboard (SIGINT, SIGQUIT) killed the program, ends this process by the
/// same one, without a core: shells stop a script only for a command that died of it, not for one
/// that exits with 130. Returns otherwise.
void end_as_program(const profile::ProgramEnd& end);

}  // namespace gprofml::app
