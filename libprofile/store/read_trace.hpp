// From an open database to a Trace.
#pragma once

#include "libprofile/store/source.hpp"
#include "libprofile/trace/trace.hpp"

namespace gprofml::profile::detail {

/// Reads all tables of `source`, whose connection is fresh: it is hardened here first. Whether the
/// database lies in a file or in memory makes no difference. Throws StoreError.
Trace read_trace(const Source& source);

}  // namespace gprofml::profile::detail
