// The doctor: what can be recorded on this machine, what cannot, and how that is repaired.
#pragma once

#include <string>

#include "libprofile/capture/doctor/finding.hpp"
#include "libprofile/capture/doctor/machine.hpp"

namespace gprofml::profile {

/// All findings, by area in a fixed order. Never throws for what the machine is like.
Findings examine(const Machine& machine);

/// The one sentence above them: whether GPU work can be recorded here, and what stands against it.
std::string verdict_of(const Findings& findings);

}  // namespace gprofml::profile
