// From the ranges of a trace to the requests that a server served.
#pragma once

#include <optional>

#include "libanalysis/serving/serving.hpp"
#include "libanalysis/window/window.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::analysis {

/// nullopt when the trace has no request range. Requests that were not recorded from
/// start to end, or in a window of steps or of a range do not lie in it wholly, are left out, and
/// counted. A window of everything holds those of all recorded windows.
///
/// A token or prefill range belongs to the innermost request around it on its own thread where
/// ranges nest; else to the only request of its process in whose time it lies. Where it lies in
/// several, which is what a batch looks like, none of these is judged. Tokens without a request are
/// nobody's. The names must differ (std::invalid_argument).
std::optional<Serving> serving_of(const profile::Trace& trace, const Window& window,
                                  const ServingNames& names);

}  // namespace gprofml::analysis
