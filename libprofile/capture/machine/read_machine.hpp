// What the launcher saw of the machine, joined with what the processes recorded of themselves.
#pragma once

#include <set>
#include <string>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Adds the samples in `folder` to a trace of its spools: thread_samples, with rows in `threads`
/// for threads that recorded nothing themselves, gpu_samples of the devices in the trace, and the
/// modules of processes that did not record theirs. A process is found by Process::source, a device
/// by its UUID; samples of any other are left out.
///
/// The samples are of the wall clock. Processes whose spools are in `on_another_clock` had a
/// simulated one, which fits no other: theirs are left out, those of GPUs too, and meta key
/// `machine_samples` says so. Not canonical afterwards. A folder without samples adds nothing.
void add_machine_samples(const std::string& folder, const std::set<std::string>& on_another_clock,
                         Trace& trace);

}  // namespace gprofml::profile
