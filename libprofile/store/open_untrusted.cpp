#include "libprofile/store/open_untrusted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "libprofile/store/store_error.hpp"

namespace gprofml::profile::detail {
namespace {

constexpr int kOperationsPerStep = 10000;

/// `path` as an SQLite URI that says the file will not change.
std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : plain_path(path)) {
    if (c == '%' || c == '?' || c == '#') {
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    } else {
      uri += c;
    }
  }
  return uri + "?mode=ro&immutable=1";
}

}  // namespace

Database open_read_only(const std::string& path) {
  sqlite3* handle = nullptr;
  const int flags =
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  const int result = sqlite3_open_v2(immutable_uri(path).c_str(), &handle, flags, nullptr);
  Database database(handle);
  if (result != SQLITE_OK) {
    throw file_error(path, fmt::format("cannot be opened: {}", failure_reason(handle)));
  }
  return database;
}

void harden(sqlite3* database, std::uint64_t file_bytes) {
  constexpr std::pair<int, int> kSettings[] = {
      {SQLITE_DBCONFIG_DEFENSIVE, 1},       {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
      {SQLITE_DBCONFIG_ENABLE_VIEW, 0},     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
      {SQLITE_DBCONFIG_DQS_DML, 0},         {SQLITE_DBCONFIG_DQS_DDL, 0},
      {SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}};
  for (const auto& [setting, value] : kSettings) {
    sqlite3_db_config(database, setting, value, static_cast<int*>(nullptr));
  }
  sqlite3_drop_modules(database, nullptr);

  // No value of a file is larger than the file; the least leaves room for our own statements.
  const std::uint64_t largest =
      std::clamp<std::uint64_t>(file_bytes, 1 << 16, std::numeric_limits<int>::max());
  const std::pair<int, int> limits[] = {{SQLITE_LIMIT_LENGTH, static_cast<int>(largest)},
                                        {SQLITE_LIMIT_SQL_LENGTH, 100000},
                                        {SQLITE_LIMIT_COLUMN, 200},
                                        {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                        {SQLITE_LIMIT_COMPOUND_SELECT, 20},
                                        {SQLITE_LIMIT_VDBE_OP, 25000},
                                        {SQLITE_LIMIT_FUNCTION_ARG, 20},
                                        {SQLITE_LIMIT_ATTACHED, 0},
                                        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100},
                                        {SQLITE_LIMIT_VARIABLE_NUMBER, 10},
                                        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                        {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (const auto& [limit, value] : limits) sqlite3_limit(database, limit, value);

  // No mmap: a file that another program cuts short meanwhile would end us with SIGBUS.
  sqlite3_exec(database,
               "PRAGMA mmap_size=0; PRAGMA cell_size_check=ON; PRAGMA query_only=ON; "
               "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096",
               nullptr, nullptr, nullptr);
}

WorkLimit::WorkLimit(sqlite3* database, std::uint64_t file_bytes)
    : database_(database),
      // A row takes 4 bytes or more and some 20 operations; the rest is for the schema.
      steps_left_((20'000'000 + 8 * file_bytes) / kOperationsPerStep) {
  sqlite3_progress_handler(database_, kOperationsPerStep, &WorkLimit::count, this);
}

WorkLimit::~WorkLimit() {
  sqlite3_progress_handler(database_, 0, nullptr, nullptr);
}

int WorkLimit::count(void* self) {
  auto& limit = *static_cast<WorkLimit*>(self);
  if (limit.steps_left_ == 0) return 1;
  --limit.steps_left_;
  return 0;
}

}  // namespace gprofml::profile::detail
