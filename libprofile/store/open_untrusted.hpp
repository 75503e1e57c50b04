// Opening an SQLite file of which nothing is trusted.
#pragma once

#include <cstdint>
#include <string>

#include "libprofile/store/sqlite_handle.hpp"

namespace gprofml::profile::detail {

/// Opens the file at `path` for reading, as it lies: no locks, no second file, no write, also where
/// the directory cannot be written or the file says WAL. Call `check_sqlite_file` first. Throws
/// StoreError.
Database open_read_only(const std::string& path);

/// Takes from a connection what reading tables does not need: views, triggers, virtual tables,
/// extensions, functions in the schema, large values and statements. Call before anything else.
void harden(sqlite3* database, std::uint64_t file_bytes);

/// Ends statements that do more work than reading every table of a file of its size could need
/// (SQLITE_INTERRUPT), so that no page that refers to itself keeps the reader busy. Lives as long
/// as reading does.
class WorkLimit {
 public:
  WorkLimit(sqlite3* database, std::uint64_t file_bytes);
  WorkLimit(const WorkLimit&) = delete;
  WorkLimit& operator=(const WorkLimit&) = delete;
  ~WorkLimit();

 private:
  static int count(void* self);

  sqlite3* database_;
  std::uint64_t steps_left_;
};

}  // namespace gprofml::profile::detail
