// From the tables of numbers of an open database into vectors, every value checked.
#pragma once

#include <array>
#include <cstdint>

#include "libprofile/store/source.hpp"
#include "libprofile/store/table_binding.hpp"

namespace gprofml::profile::detail {

/// Rows that each table has, for checking what refers to it. Tables not read yet have 0.
using TableSizes = std::array<std::uint64_t, static_cast<std::size_t>(TableId::none)>;

/// Fills the vectors of `table` and returns its number of rows. Ids must count up from 0; values
/// must be integers in range. Memory follows the rows read, never what a file claims. Throws
/// StoreError.
std::uint64_t read_table(const Source& source, const TableBinding& table, const TableSizes& sizes);

}  // namespace gprofml::profile::detail
