// From the tables of an open database into vectors, every value checked.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libprofile/store/sqlite_handle.hpp"
#include "libprofile/store/table_binding.hpp"

namespace gprofml::profile::detail {

/// The database that is read, and what its errors are called by.
struct Source {
  sqlite3* database = nullptr;
  std::string file;
  std::uint64_t file_bytes = 0;
};

/// Rows that each table has, for checking what refers to it. Tables not read yet have 0.
using TableSizes = std::array<std::uint64_t, static_cast<std::size_t>(TableId::none)>;

/// Throws StoreError unless `table` is a real table (no view or virtual table) that stores all of
/// `columns`. More columns are fine: a later minor version may add some.
void check_table(const Source& source, std::string_view table,
                 const std::vector<std::string_view>& columns);

/// Fills the vectors of `table` and returns its number of rows. Ids must count up from 0; values
/// must be integers in range. Memory follows the rows read, never what a file claims. Throws
/// StoreError.
std::uint64_t read_table(const Source& source, const TableBinding& table, const TableSizes& sizes);

/// Fills `strings` from table `string` and returns its number of rows. Throws StoreError.
std::uint64_t read_strings(const Source& source, StringTable& strings);

/// The entries of table `meta` in the file's order. Throws StoreError.
std::vector<std::pair<std::string, std::string>> read_meta(const Source& source);

}  // namespace gprofml::profile::detail
