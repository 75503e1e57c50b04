#include "libprofile/store/bulk_insert.hpp"

#include <algorithm>

namespace gprofml::profile::detail {
namespace {

// Measured with `kernel`: more rows gain nothing, and bound values fall out of the first cache.
constexpr std::size_t kRowsPerStatement = 64;

}  // namespace

BulkInsert::BulkInsert(sqlite3* database, std::string_view table,
                       const std::vector<std::string_view>& columns, std::size_t total_rows)
    : database_(database), rows_left_(total_rows) {
  head_ = "INSERT INTO \"" + std::string(table) + "\"(\"id\"";
  row_ = "(?";
  for (const std::string_view column : columns) {
    head_ += ",\"" + std::string(column) + "\"";
    row_ += ",?";
  }
  head_ += ") VALUES ";
  row_ += ")";
}

Statement BulkInsert::compile(std::size_t rows) const {
  std::string sql = head_ + row_;
  for (std::size_t row = 1; row < rows; ++row) sql += "," + row_;
  return prepare(database_, sql);
}

void BulkInsert::text(std::string_view value) {
  bind_text(statement_.get(), next_++, value);
}

bool BulkInsert::begin_row() {
  if (bound_ == 0) {
    const std::size_t rows = std::min(kRowsPerStatement, rows_left_);
    if (rows != rows_in_statement_) statement_ = compile(rows);
    if (!statement_) return false;
    rows_in_statement_ = rows;
    next_ = 1;
  }
  integer(next_id_++);
  return true;
}

bool BulkInsert::end_row() {
  if (++bound_ < rows_in_statement_) return true;
  rows_left_ -= bound_;
  bound_ = 0;
  // The outcome of a step is told again by reset.
  sqlite3_step(statement_.get());
  return sqlite3_reset(statement_.get()) == SQLITE_OK;
}

}  // namespace gprofml::profile::detail
