#include "libprofile/store/source.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libprofile/store/store_error.hpp"
#include "libprofile/trace/columns.hpp"

namespace gprofml::profile::detail {
namespace {

void check_is_table(const Source& source, std::string_view table) {
  const Statement query = prepare_or_fail(source, table,
                                          "SELECT type, sql FROM sqlite_schema WHERE type IN "
                                          "('table', 'view') AND name = ?1 COLLATE NOCASE");
  bind_text(query.get(), 1, table);
  if (!step_or_fail(source, table, query.get())) {
    throw table_error(source.file, table, "there is no such table");
  }
  if (column_text(query.get(), 0) == "view")
    throw table_error(source.file, table, "it is a view, not a table");
  // SQLite itself starts the text of a real table so, whatever the user typed.
  constexpr std::string_view kCreateTable = "CREATE TABLE ";
  if (column_text(query.get(), 1).substr(0, kCreateTable.size()) != kCreateTable) {
    throw table_error(source.file, table, "it is a virtual table, not one of the file itself");
  }
}

}  // namespace

[[noreturn]] void fail_sqlite(const Source& source, std::string_view table) {
  if ((sqlite3_errcode(source.database) & 0xff) == SQLITE_INTERRUPT) {
    throw table_error(source.file, table,
                      "damaged: its pages take more work than a file of this size can");
  }
  throw table_error(source.file, table, failure_reason(source.database));
}

Statement prepare_or_fail(const Source& source, std::string_view table, const std::string& sql) {
  Statement statement = prepare(source.database, sql);
  if (!statement) fail_sqlite(source, table);
  return statement;
}

bool step_or_fail(const Source& source, std::string_view table, sqlite3_stmt* statement) {
  const int result = sqlite3_step(statement);
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  fail_sqlite(source, table);
}

std::string_view column_text(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  const int bytes = sqlite3_column_bytes(statement, column);
  return text == nullptr ? std::string_view()
                         : std::string_view(text, static_cast<std::size_t>(bytes));
}

std::string_view type_name(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "an integer";
    case SQLITE_FLOAT:
      return "a real number";
    case SQLITE_TEXT:
      return "text";
    case SQLITE_BLOB:
      return "a blob";
    default:
      return "NULL";
  }
}

bool has_table(const Source& source, std::string_view table) {
  const Statement query = prepare_or_fail(
      source, table,
      fmt::format("SELECT 1 FROM main.sqlite_schema WHERE name = '{}' COLLATE NOCASE", table));
  return step_or_fail(source, table, query.get());
}

std::vector<std::string> stored_columns(const Source& source, std::string_view table) {
  check_is_table(source, table);
  const Statement info =
      prepare_or_fail(source, table, fmt::format("PRAGMA main.table_xinfo(\"{}\")", table));
  std::vector<std::string> stored;
  while (step_or_fail(source, table, info.get())) {
    constexpr int kName = 1;
    constexpr int kHidden = 6;
    if (sqlite3_column_int(info.get(), kHidden) == 0)
      stored.emplace_back(column_text(info.get(), kName));
  }
  return stored;
}

void check_columns(const Source& source, std::string_view table,
                   const std::vector<std::string>& stored,
                   const std::vector<std::string_view>& columns) {
  for (const std::string_view column : columns) {
    if (std::find(stored.begin(), stored.end(), column) == stored.end()) {
      throw table_error(source.file, table, fmt::format("it stores no column `{}`", column));
    }
  }
}

void check_table(const Source& source, std::string_view table,
                 const std::vector<std::string_view>& columns) {
  check_columns(source, table, stored_columns(source, table), columns);
}

void check_id(const Source& source, std::string_view table, sqlite3_value* id, std::uint64_t row) {
  const int type = sqlite3_value_type(id);
  const std::int64_t value = type == SQLITE_INTEGER ? sqlite3_value_int64(id) : -1;
  if (type == SQLITE_INTEGER && static_cast<std::uint64_t>(value) == row && row < kNoRow) return;
  const std::string found =
      type == SQLITE_INTEGER ? std::to_string(value) : std::string(type_name(type));
  throw table_error(
      source.file, table,
      fmt::format("column `id` holds {} in row {}, but ids count up from 0", found, row));
}

std::string quoted_list(const std::vector<std::string_view>& columns) {
  std::string list;
  for (const std::string_view column : columns) {
    list += fmt::format("{}\"{}\"", list.empty() ? "" : ",", column);
  }
  return list;
}

std::string from_table(std::string_view table) {
  return fmt::format(" FROM \"{}\" NOT INDEXED", table);
}

}  // namespace gprofml::profile::detail
