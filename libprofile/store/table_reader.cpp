#include "libprofile/store/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "libprofile/store/store_error.hpp"

namespace gprofml::profile::detail {
namespace {

// Vectors grow by this many rows; small enough that filling them with zeros first stays in cache.
constexpr std::size_t kRowsPerChunk = 4096;
// A cell of a table's leaf page has at least 4 bytes and a 2-byte pointer to it.
constexpr std::uint64_t kLeastBytesPerRow = 6;

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

/// True while there is a row.
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

/// Text that must be text. No file holds more of it than it has bytes: each text stands in it once,
/// unless pages are shared, and then a small file could fill any memory.
class TextReader {
 public:
  TextReader(const Source& source, std::string_view table)
      : source_(source), table_(table), bytes_left_(source.file_bytes) {}

  std::string_view get(sqlite3_stmt* statement, int column) {
    const int type = sqlite3_column_type(statement, column);
    if (type != SQLITE_TEXT) {
      throw table_error(source_.file, table_,
                        fmt::format("column `{}` holds {} where text belongs",
                                    sqlite3_column_name(statement, column), type_name(type)));
    }
    const std::string_view text = column_text(statement, column);
    if (text.data() == nullptr) fail_sqlite(source_, table_);
    if (text.size() > bytes_left_) {
      throw table_error(source_.file, table_,
                        "damaged: it holds more text than the file has bytes");
    }
    bytes_left_ -= text.size();
    return text;
  }

 private:
  const Source& source_;
  std::string_view table_;
  std::uint64_t bytes_left_;
};

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

/// A column of the table that is being read.
struct ColumnTarget {
  const ColumnBinding* binding;
  std::uint64_t limit;  ///< values of less than 8 bytes lie below
  std::byte* next;      ///< where the next value goes
};

[[noreturn]] void fail_value(const Source& source, const TableBinding& table,
                             const ColumnTarget& target, std::uint64_t row, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type != SQLITE_INTEGER) {
    throw table_error(source.file, table.name,
                      fmt::format("column `{}` holds {} in row {} where an integer belongs",
                                  target.binding->name, type_name(type), row));
  }
  throw table_error(source.file, table.name,
                    fmt::format("column `{}` holds {} in row {}, values must lie in 0 .. {}",
                                target.binding->name, sqlite3_value_int64(value), row,
                                static_cast<std::int64_t>(target.limit) - 1));
}

/// Stores a value; false when it is none the column may hold.
bool take_value(ColumnTarget& target, sqlite3_value* value) {
  const ColumnBinding& column = *target.binding;
  std::uint64_t bits;
  switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
      bits = static_cast<std::uint64_t>(sqlite3_value_int64(value));
      if (column.bytes < 8 && bits >= target.limit) return false;
      break;
    case SQLITE_NULL:
      if (!column.nullable) return false;
      bits = column.null_bits;
      break;
    default:
      return false;
  }
  store_value(target.next, column.bytes, bits);
  target.next += column.stride;
  return true;
}

std::vector<ColumnTarget> column_targets(const TableBinding& table, const TableSizes& sizes) {
  std::vector<ColumnTarget> targets;
  for (const ColumnBinding& column : table.columns) {
    const bool refers = column.target != TableId::none;
    targets.push_back(
        {&column, refers ? sizes[static_cast<std::size_t>(column.target)] : column.limit, nullptr});
  }
  return targets;
}

void read_row(const Source& source, const TableBinding& table, std::vector<ColumnTarget>& targets,
              sqlite3_stmt* query, std::uint64_t row) {
  check_id(source, table.name, sqlite3_column_value(query, 0), row);
  int column = 1;
  for (ColumnTarget& target : targets) {
    sqlite3_value* value = sqlite3_column_value(query, column++);
    if (!take_value(target, value)) fail_value(source, table, target, row, value);
  }
}

/// Room for the rows that the table seems to have. A claim beyond the size of the file counts as
/// that size; memory that is reserved but never written costs none.
void reserve_rows(const Source& source, const TableBinding& table) {
  const Statement query = prepare_or_fail(
      source, table.name, fmt::format("SELECT max(\"id\") FROM \"{}\"", table.name));
  if (!step_or_fail(source, table.name, query.get())) return;
  const auto claimed =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, sqlite3_column_int64(query.get(), 0)));
  // A whole chunk more, or the last one would move everything.
  table.reserve(std::min(claimed, source.file_bytes / kLeastBytesPerRow) + kRowsPerChunk);
}

std::string select_columns(std::string_view table, const std::vector<std::string_view>& columns) {
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    sql += fmt::format("{}\"{}\"", column == columns.front() ? "" : ",", column);
  }
  return sql + fmt::format(" FROM \"{}\"", table);
}

}  // namespace

void check_table(const Source& source, std::string_view table,
                 const std::vector<std::string_view>& columns) {
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
  for (const std::string_view column : columns) {
    if (std::find(stored.begin(), stored.end(), column) == stored.end()) {
      throw table_error(source.file, table, fmt::format("it stores no column `{}`", column));
    }
  }
}

std::uint64_t read_table(const Source& source, const TableBinding& table, const TableSizes& sizes) {
  std::vector<std::string_view> names{"id"};
  for (const ColumnBinding& column : table.columns) names.push_back(column.name);
  check_table(source, table.name, names);
  reserve_rows(source, table);

  const Statement query = prepare_or_fail(source, table.name, select_columns(table.name, names));
  std::vector<ColumnTarget> targets = column_targets(table, sizes);
  std::uint64_t row = 0;
  for (std::uint64_t room = 0; step_or_fail(source, table.name, query.get()); ++row) {
    if (row == room) {
      room += kRowsPerChunk;
      table.resize(room);
      for (ColumnTarget& target : targets)
        target.next = target.binding->first() + row * target.binding->stride;
    }
    read_row(source, table, targets, query.get(), row);
  }
  table.resize(row);
  return row;
}

std::uint64_t read_strings(const Source& source, StringTable& strings) {
  constexpr std::string_view kTable = "string";
  check_table(source, kTable, {"id", "text"});
  const Statement query = prepare_or_fail(source, kTable, select_columns(kTable, {"id", "text"}));
  TextReader text(source, kTable);
  std::uint64_t row = 0;
  for (; step_or_fail(source, kTable, query.get()); ++row) {
    check_id(source, kTable, sqlite3_column_value(query.get(), 0), row);
    const std::uint64_t id = strings.intern(text.get(query.get(), 1));
    if (id != row) {
      throw table_error(source.file, kTable,
                        row == 0 ? "row 0 is not the empty string"
                                 : fmt::format("rows {} and {} hold the same text", id, row));
    }
  }
  if (row == 0) throw table_error(source.file, kTable, "row 0, the empty string, is missing");
  return row;
}

std::vector<std::pair<std::string, std::string>> read_meta(const Source& source) {
  constexpr std::string_view kTable = "meta";
  check_table(source, kTable, {"key", "value"});
  const Statement query = prepare_or_fail(source, kTable, select_columns(kTable, {"key", "value"}));
  TextReader text(source, kTable);
  std::vector<std::pair<std::string, std::string>> entries;
  while (step_or_fail(source, kTable, query.get())) {
    std::string key(text.get(query.get(), 0));
    entries.emplace_back(std::move(key), text.get(query.get(), 1));
  }
  return entries;
}

}  // namespace gprofml::profile::detail
