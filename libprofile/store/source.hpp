// Queries on a database that is not trusted: every failure is a StoreError that names file and
// table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/store/sqlite_handle.hpp"

namespace gprofml::profile::detail {

/// The database that is read, and what its errors are called by.
struct Source {
  sqlite3* database = nullptr;
  std::string file;
  std::uint64_t file_bytes = 0;
};

/// Throws what SQLite says of its last failure as a StoreError about `table`.
[[noreturn]] void fail_sqlite(const Source& source, std::string_view table);

/// Compiles `sql`, which reads `table`.
Statement prepare_or_fail(const Source& source, std::string_view table, const std::string& sql);

/// True while there is a row.
bool step_or_fail(const Source& source, std::string_view table, sqlite3_stmt* statement);

/// The text of a column; no data where there is none or memory ran out.
std::string_view column_text(sqlite3_stmt* statement, int column);

/// What an SQLite type is called in a message: "text", "an integer" …
std::string_view type_name(int type);

/// Whether the file has anything of that name.
bool has_table(const Source& source, std::string_view table);

/// The columns that `table` stores. Throws unless it is a real table (no view or virtual table).
std::vector<std::string> stored_columns(const Source& source, std::string_view table);

/// Throws unless all of `columns` are among those that `table` stores.
void check_columns(const Source& source, std::string_view table,
                   const std::vector<std::string>& stored,
                   const std::vector<std::string_view>& columns);

/// Throws unless `table` is a real table that stores all of `columns`. More columns are fine: a
/// later version of the same schema may add some.
void check_table(const Source& source, std::string_view table,
                 const std::vector<std::string_view>& columns);

/// Throws unless a row's id is the integer `row`.
void check_id(const Source& source, std::string_view table, sqlite3_value* id, std::uint64_t row);

/// `"a","b"`: columns as SQL names them.
std::string quoted_list(const std::vector<std::string_view>& columns);

/// ` FROM "TABLE" …` such that rows come in the order of their ids. Without a word SQLite prefers
/// an index that somebody made over all columns asked for, and follows its order.
std::string from_table(std::string_view table);

}  // namespace gprofml::profile::detail
