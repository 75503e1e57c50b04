// The two tables of run.db that hold text.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "libprofile/store/source.hpp"
#include "libprofile/trace/string_table.hpp"

namespace gprofml::profile::detail {

/// Fills `strings` from table `string` and returns its number of rows. Throws StoreError.
std::uint64_t read_strings(const Source& source, StringTable& strings);

/// The entries of table `meta` in the file's order. Throws StoreError.
std::vector<std::pair<std::string, std::string>> read_meta(const Source& source);

}  // namespace gprofml::profile::detail
