#include "libprofile/store/table_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "libprofile/store/store_error.hpp"

namespace gprofml::profile::detail {
namespace {

// Vectors grow by this many rows; small enough that filling them with zeros first stays in cache.
constexpr std::size_t kRowsPerChunk = 4096;
// A cell of a table's leaf page has at least 4 bytes and a 2-byte pointer to it.
constexpr std::uint64_t kLeastBytesPerRow = 6;

/// A column of the table that is being read.
struct ColumnTarget {
  const ColumnBinding* binding;
  std::uint64_t limit;  ///< values of less than 8 bytes lie below
  std::byte* next;      ///< where the next value goes
};

[[noreturn]] void fail_value(const Source& source, const TableBinding& table,
                             const ColumnTarget& target, std::uint64_t row, sqlite3_value* value) {
  const int type = sqlite3_value_type(value);
  if (type != SQLITE_INTEGER || target.binding->is_real) {
    throw table_error(
        source.file, table.name,
        fmt::format("column `{}` holds {} in row {} where {} belongs", target.binding->name,
                    type_name(type), row, target.binding->is_real ? "a number" : "an integer"));
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
  const int type = sqlite3_value_type(value);
  if (column.is_real) {
    if (type != SQLITE_FLOAT && type != SQLITE_INTEGER) return false;
    const double real = sqlite3_value_double(value);
    std::memcpy(&bits, &real, sizeof bits);
    store_value(target.next, column.bytes, bits);
    target.next += column.stride;
    return true;
  }
  switch (type) {
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

/// Takes the rows of one table as an SQL aggregate function over its columns, `id` first. SQLite
/// then runs through the table in one step and hands each row over in place; stepping from row to
/// row costs a quarter more.
class RowCollector {
 public:
  RowCollector(const Source& source, const TableBinding& table, const TableSizes& sizes)
      : source_(source), table_(table) {
    for (const ColumnBinding& column : table.columns) {
      const bool refers = column.target != TableId::none;
      const std::uint64_t limit =
          refers ? sizes[static_cast<std::size_t>(column.target)] : column.limit;
      targets_.push_back({&column, limit, nullptr});
    }
  }

  /// Runs through the table and returns its number of rows.
  std::uint64_t collect(const std::string& columns) {
    // Not for the schema of a file: SQLITE_DIRECTONLY.
    if (sqlite3_create_function_v2(
            source_.database, "gprofml_collect", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, this, nullptr,
            &RowCollector::on_row, &RowCollector::on_end, nullptr) != SQLITE_OK) {
      fail_sqlite(source_, table_.name);
    }
    const Statement query = prepare_or_fail(
        source_, table_.name,
        fmt::format("SELECT gprofml_collect({})", columns) + from_table(table_.name));
    const int result = sqlite3_step(query.get());
    if (failure_) std::rethrow_exception(failure_);
    if (result != SQLITE_ROW) fail_sqlite(source_, table_.name);
    table_.resize(rows_);
    return rows_;
  }

 private:
  /// No exception may pass through SQLite: it waits in `failure_` until the statement has ended.
  static void on_row(sqlite3_context* context, int, sqlite3_value** values) noexcept {
    auto& self = *static_cast<RowCollector*>(sqlite3_user_data(context));
    try {
      self.take_row(values);
    } catch (...) {
      self.failure_ = std::current_exception();
      sqlite3_result_error_code(context, SQLITE_ABORT);
    }
  }

  static void on_end(sqlite3_context* context) noexcept { sqlite3_result_null(context); }

  void take_row(sqlite3_value** values) {
    if (rows_ == room_) make_room();
    check_id(source_, table_.name, *values, rows_);
    for (ColumnTarget& target : targets_) {
      ++values;
      if (!take_value(target, *values)) fail_value(source_, table_, target, rows_, *values);
    }
    ++rows_;
  }

  void make_room() {
    room_ += kRowsPerChunk;
    table_.resize(room_);
    for (ColumnTarget& target : targets_) {
      target.next = target.binding->first() + rows_ * target.binding->stride;
    }
  }

  const Source& source_;
  const TableBinding& table_;
  std::vector<ColumnTarget> targets_;
  std::uint64_t rows_ = 0;
  std::uint64_t room_ = 0;
  std::exception_ptr failure_;
};

/// Room for the rows that the table seems to have. A claim beyond the size of the file counts as
/// that size; memory that is reserved but never written costs none.
void reserve_rows(const Source& source, const TableBinding& table) {
  const Statement query =
      prepare_or_fail(source, table.name, "SELECT max(id)" + from_table(table.name));
  if (!step_or_fail(source, table.name, query.get())) return;
  const auto claimed =
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, sqlite3_column_int64(query.get(), 0)));
  // A whole chunk more, or the last one would move everything.
  table.reserve(std::min(claimed, source.file_bytes / kLeastBytesPerRow) + kRowsPerChunk);
}

}  // namespace

std::uint64_t read_table(const Source& source, const TableBinding& table, const TableSizes& sizes) {
  if (table.may_miss && !has_table(source, table.name)) return 0;
  const std::vector<std::string> stored = stored_columns(source, table.name);
  std::vector<std::string_view> required{"id"};
  std::string selected = "\"id\"";
  for (const ColumnBinding& column : table.columns) {
    const bool present = std::find(stored.begin(), stored.end(), column.name) != stored.end();
    if (present || !column.may_miss) {
      required.push_back(column.name);
      selected += fmt::format(",\"{}\"", column.name);
    } else {
      selected += column.nullable ? ",NULL" : ",0";  // what an older file says of it
    }
  }
  check_columns(source, table.name, stored, required);
  reserve_rows(source, table);
  return RowCollector(source, table, sizes).collect(selected);
}

}  // namespace gprofml::profile::detail
