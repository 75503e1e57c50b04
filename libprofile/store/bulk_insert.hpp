// INSERT statements that carry many rows at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libprofile/store/sqlite_handle.hpp"

namespace gprofml::profile::detail {

/// Fills one table. Values are given row by row, column by column; a statement runs whenever
/// enough rows are bound. SQLite then compiles, starts and ends one statement for many rows, which
/// makes the difference between 0.8 and more than 1 million rows of `kernel` a second.
class BulkInsert {
 public:
  /// `columns` without `id`, which counts up from 0. `total_rows` will follow.
  BulkInsert(sqlite3* database, std::string_view table,
             const std::vector<std::string_view>& columns, std::size_t total_rows);

  void integer(std::int64_t value) { sqlite3_bind_int64(statement_.get(), next_++, value); }
  void real(double value) { sqlite3_bind_double(statement_.get(), next_++, value); }
  void null() { sqlite3_bind_null(statement_.get(), next_++); }
  /// The text must live until the row's statement has run: until `end_row` of the last row.
  void text(std::string_view value);

  /// Starts a row: binds its id. False when SQLite failed.
  bool begin_row();
  /// Ends a row. False when SQLite failed.
  bool end_row();

 private:
  Statement compile(std::size_t rows) const;

  sqlite3* database_;
  std::string head_;  // INSERT INTO … VALUES
  std::string row_;   // (?, …)
  std::size_t rows_left_;
  std::size_t rows_in_statement_ = 0;
  std::size_t bound_ = 0;
  std::int64_t next_id_ = 0;
  int next_ = 1;
  Statement statement_;
};

}  // namespace gprofml::profile::detail
