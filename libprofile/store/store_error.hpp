// How the messages of StoreError are worded.
#pragma once

#include <string>
#include <string_view>

#include "libprofile/store/store.hpp"

namespace gprofml::profile::detail {

/// "FILE: WHAT" as one printable line: whatever a hostile name or text brings along, control
/// characters come out as '?'.
StoreError file_error(const std::string& file, std::string_view what);

/// "FILE: table `TABLE`: WHAT; write it again from its source".
StoreError table_error(const std::string& file, std::string_view table, std::string_view what);

}  // namespace gprofml::profile::detail
