// run.db: the trace model as an SQLite file.
#pragma once

#include <stdexcept>
#include <string>

#include "libprofile/trace/trace.hpp"

namespace gprofml::profile {

/// Version of the tables this build writes; kept in `meta` as `schema_version`.
inline constexpr int kSchemaVersion = 1;

/// A run.db that cannot be opened, read or written. `what()` is one line: file, table, what to do.
class StoreError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Whether the file starts like an SQLite database.
bool is_sqlite(const std::string& path);

/// Writes `trace` into a new file at `path`, replacing nothing: an existing file is an error. The
/// file appears under its name only when it is complete. Throws StoreError.
void write_run_db(const Trace& trace, const std::string& path);

/// Reads a whole run.db. Never trusts it: missing tables or columns, wrong types, references out of
/// range and a newer schema are StoreErrors that name file and table. Throws StoreError.
Trace read_run_db(const std::string& path);

}  // namespace gprofml::profile
