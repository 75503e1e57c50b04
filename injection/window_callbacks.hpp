// The calls that open and close windows: launches of graphs, synchronisation, the profiler API.
// Only where the options ask for them. Runs in the program's threads.
#pragma once

#include "injection/cupti_session.hpp"

namespace gprofml::injection {

void enable_window_callbacks(CuptiSession& session);

/// A call for which a callback is enabled begins or ends.
void on_window_call(CuptiSession& session, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                    const CUpti_CallbackData& call);

}  // namespace gprofml::injection
