// RAII around SQLite's connection and statement.
#pragma once

#include <sqlite3.h>

#include <memory>
#include <string>
#include <string_view>

namespace gprofml::profile::detail {

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

/// An open connection. Close it after its statements: sqlite3_close leaks one that has some left.
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

/// Compiles `sql`; null when that fails, with the reason in sqlite3_errmsg.
Statement prepare(sqlite3* database, const std::string& sql);

/// Binds `text`, which must live until the statement has run.
void bind_text(sqlite3_stmt* statement, int parameter, std::string_view text);

/// `path` such that SQLite opens the file of that name: never a URI, memory or a temporary file.
std::string plain_path(const std::string& path);

/// What SQLite says of its last failure, with the operating system's reason where there is one.
std::string failure_reason(sqlite3* database);

}  // namespace gprofml::profile::detail
