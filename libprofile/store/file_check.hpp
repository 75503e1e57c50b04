// What can be said of a file before SQLite sees it.
#pragma once

#include <cstdint>
#include <string>

namespace gprofml::profile::detail {

/// Checks that `path` is a regular, whole SQLite file without changes that wait in a second file,
/// and returns its size in bytes. Throws StoreError.
std::uint64_t check_sqlite_file(const std::string& path);

}  // namespace gprofml::profile::detail
