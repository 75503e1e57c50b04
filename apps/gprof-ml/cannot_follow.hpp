// Programs that only ask somebody else to start a program: containers are started by a daemon,
// which hands on neither our variables nor our files.
#pragma once

#include <string>
#include <vector>

namespace gprofml::app {

/// One sentence for the user when what `command` starts will not be recorded, with what to do in
/// its place; empty when it is followed.
std::string cannot_follow(const std::vector<std::string>& command);

}  // namespace gprofml::app
