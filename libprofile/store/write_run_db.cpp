#include <fmt/format.h>

#include <cstring>

#include "libprofile/store/bulk_insert.hpp"
#include "libprofile/store/meta_keys.hpp"
#include "libprofile/store/new_file.hpp"
#include "libprofile/store/schema.hpp"
#include "libprofile/store/sqlite_handle.hpp"
#include "libprofile/store/store.hpp"
#include "libprofile/store/store_error.hpp"
#include "libprofile/store/table_binding.hpp"

namespace gprofml::profile {
namespace {

using namespace detail;

/// Fills a new database. It says "cannot be written" under the name the user gave, not that of the
/// temporary file.
class Writer {
 public:
  Writer(const Trace& trace, const std::string& temporary_path, const std::string& path)
      : trace_(trace), path_(path) {
    sqlite3* database = nullptr;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    const int result =
        sqlite3_open_v2(plain_path(temporary_path).c_str(), &database, flags, nullptr);
    database_.reset(database);
    if (result != SQLITE_OK) fail();
  }

  void write() {
    // A file that is not complete is removed, so neither a journal nor order on disk is needed.
    execute(
        "PRAGMA page_size=8192; PRAGMA encoding='UTF-8'; PRAGMA journal_mode=OFF;"
        "PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16384");
    execute(fmt::format("PRAGMA application_id={}; PRAGMA user_version={}", kApplicationId,
                        kSchemaVersion));
    execute("BEGIN EXCLUSIVE");
    execute(kSchemaSql);
    write_meta();
    write_strings();
    // Binding takes what it may also fill; here it is only read.
    for (const TableBinding& table : bind_tables(const_cast<Trace&>(trace_))) write_table(table);
    execute("COMMIT");
  }

 private:
  [[noreturn]] void fail() const {
    throw file_error(path_, fmt::format("cannot be written: {}", failure_reason(database_.get())));
  }

  void execute(const std::string& sql) const {
    if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) fail();
  }

  void write_meta() const {
    write_meta_entry(kSchemaVersionKey, std::to_string(kSchemaVersion));
    write_meta_entry(kToolVersionKey, GPROFML_VERSION);
    if (trace_.clock.bound_ns != kUnknown) {
      write_meta_entry(kClockBoundKey, std::to_string(trace_.clock.bound_ns));
    }
    for (const auto& [key, value] : trace_.meta) write_meta_entry(stored_key(key), value);
  }

  void write_meta_entry(std::string_view key, std::string_view value) const {
    const Statement insert = prepare(database_.get(), "INSERT INTO meta(key, value) VALUES (?, ?)");
    if (!insert) fail();
    bind_text(insert.get(), 1, key);
    bind_text(insert.get(), 2, value);
    if (sqlite3_step(insert.get()) != SQLITE_DONE) fail();
  }

  void write_strings() const {
    const std::size_t count = trace_.strings.size();
    BulkInsert insert(database_.get(), "string", {"text"}, count);
    for (std::size_t id = 0; id < count; ++id) {
      if (!insert.begin_row()) fail();
      insert.text(trace_.strings.view(static_cast<StringId>(id)));
      if (!insert.end_row()) fail();
    }
  }

  void write_table(const TableBinding& table) const {
    std::vector<std::string_view> names;
    for (const ColumnBinding& column : table.columns) names.push_back(column.name);
    BulkInsert insert(database_.get(), table.name, names, table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (!insert.begin_row()) fail();
      for (const ColumnBinding& column : table.columns) write_value(insert, column, row);
      if (!insert.end_row()) fail();
    }
  }

  static void write_value(BulkInsert& insert, const ColumnBinding& column, std::size_t row) {
    const std::uint64_t bits = load_value(column.first() + row * column.stride, column.bytes);
    if (column.nullable && bits == column.null_bits) {
      insert.null();
    } else if (column.is_real) {
      double value;
      std::memcpy(&value, &bits, sizeof value);
      insert.real(value);
    } else {
      insert.integer(static_cast<std::int64_t>(bits));
    }
  }

  const Trace& trace_;
  const std::string& path_;
  Database database_;
};

}  // namespace

void write_run_db(const Trace& trace, const std::string& path) {
  if (const auto inconsistency = first_inconsistency(trace)) {
    throw detail::file_error(
        path, fmt::format("not written, the trace contradicts itself: {}", *inconsistency));
  }
  detail::NewFile file(path);
  Writer(trace, file.temporary_path(), path).write();
  file.publish();
}

}  // namespace gprofml::profile
