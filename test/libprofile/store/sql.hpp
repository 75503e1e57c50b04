// SQL on a file, independent of the store.
#pragma once

#include <sqlite3.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace gprofml::test {

using SqlRow = std::vector<std::string>;

/// Runs statements on the file at `path`, making it when there is none, and returns all rows as
/// text ("NULL" for NULL). Throws std::runtime_error.
inline std::vector<SqlRow> run_sql(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  std::vector<SqlRow> rows;
  const auto collect = [](void* result, int columns, char** values, char**) {
    SqlRow row;
    for (int i = 0; i < columns; ++i) row.emplace_back(values[i] == nullptr ? "NULL" : values[i]);
    static_cast<std::vector<SqlRow>*>(result)->push_back(std::move(row));
    return 0;
  };
  std::string error;
  // No file of a test needs to survive a power cut.
  if (sqlite3_open(path.c_str(), &database) != SQLITE_OK ||
      sqlite3_exec(database, "PRAGMA synchronous = OFF", nullptr, nullptr, nullptr) != SQLITE_OK ||
      sqlite3_exec(database, sql.c_str(), collect, &rows, nullptr) != SQLITE_OK) {
    error = sqlite3_errmsg(database);
  }
  sqlite3_close(database);
  if (!error.empty()) throw std::runtime_error(error + " in: " + sql);
  return rows;
}

}  // namespace gprofml::test
