// Holds a recording to its overhead budget: asks the Budget what to give up, and gives it up.
#pragma once

namespace gprofml::injection {

struct Recorder;

/// Called by the writer in each pass, behind account_cost(). Every switch is a capture event, and
/// begins a new window: nothing is analysed across it.
void keep_budget(Recorder& recorder);

}  // namespace gprofml::injection
