// What the samples of the machine say against taking a recording's times for the program's own.
#pragma once

#include <string>
#include <vector>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Clauses for people, each about something that can be changed: host threads that wait for CPUs, a
/// GPU whose clock is held down, other programs on it. Empty where nothing of that was seen.
std::vector<std::string> machine_doubts(const Trace& trace);

}  // namespace gprofml::profile
