#include "libprofile/store/sqlite_handle.hpp"

#include <cstring>

namespace gprofml::profile::detail {

Statement prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int length = static_cast<int>(sql.size());
  if (sqlite3_prepare_v2(database, sql.c_str(), length, &statement, nullptr) != SQLITE_OK) {
    return nullptr;
  }
  return Statement(statement);
}

void bind_text(sqlite3_stmt* statement, int parameter, std::string_view text) {
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text64(statement, parameter, data, text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

std::string plain_path(const std::string& path) {
  return !path.empty() && path.front() == '/' ? path : "./" + path;
}

std::string failure_reason(sqlite3* database) {
  std::string reason = sqlite3_errmsg(database);
  const int result = sqlite3_errcode(database) & 0xff;
  const int system_error = sqlite3_system_errno(database);
  if ((result == SQLITE_IOERR || result == SQLITE_CANTOPEN) && system_error != 0) {
    reason += std::string(": ") + std::strerror(system_error);
  }
  return reason;
}

}  // namespace gprofml::profile::detail
