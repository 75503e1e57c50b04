// What a connection to a file that is not trusted can no longer do.
#include <catch2/catch.hpp>

#include "libprofile/store/open_untrusted.hpp"
#include "test/libprofile/store/sql.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

using profile::detail::Database;

/// A hardened connection to a file made by `sql`.
struct Hardened {
  explicit Hardened(const std::string& sql) {
    run_sql(path, sql);
    database = profile::detail::open_read_only(path);
    profile::detail::harden(database.get(), 10'000);
  }

  int run(const std::string& sql) const {
    return sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr);
  }
  std::string message() const { return sqlite3_errmsg(database.get()); }

  TemporaryFolder folder;
  std::string path = folder / "a.db";
  Database database;
};

TEST_CASE("tables read, views and virtual tables do not") {
  const Hardened file(
      "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t; CREATE VIRTUAL TABLE f USING fts5(a)");
  CHECK(file.run("SELECT a FROM t") == SQLITE_OK);
  CHECK(file.run("SELECT a FROM v") == SQLITE_ERROR);
  CHECK(file.message().find("view") != std::string::npos);
  CHECK(file.run("SELECT a FROM f") == SQLITE_ERROR);
  CHECK(file.message().find("no such module") != std::string::npos);
}

TEST_CASE("nothing is written and no other file is opened") {
  const Hardened file("CREATE TABLE t(a)");
  CHECK(file.run("INSERT INTO t VALUES (1)") == SQLITE_READONLY);
  CHECK(file.run("ATTACH '" + (file.folder / "b.db") + "' AS b") == SQLITE_ERROR);
  CHECK(file.run("SELECT load_extension('x')") == SQLITE_ERROR);
  CHECK(file.folder.files() == 1);
}

TEST_CASE("a name that is no column is an error, not a text") {
  const Hardened file("CREATE TABLE t(a); INSERT INTO t VALUES (1)");
  CHECK(file.run("SELECT \"b\" FROM t") == SQLITE_ERROR);
}

TEST_CASE("a value cannot be larger than the file, nor smaller than our own statements need") {
  const Hardened file("CREATE TABLE t(a)");
  CHECK(file.run("SELECT length(zeroblob(65536))") == SQLITE_OK);
  CHECK(file.run("SELECT length(zeroblob(65537))") == SQLITE_TOOBIG);
}

TEST_CASE("work without end is ended while the limit lives") {
  const Hardened file("CREATE TABLE t(a)");
  const char* endless =
      "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r";
  const char* long_enough =
      "WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r WHERE n < 100000) SELECT "
      "max(n) FROM r";
  {
    const profile::detail::WorkLimit limit(file.database.get(), 10'000);
    CHECK(file.run(long_enough) == SQLITE_OK);
    CHECK(file.run(endless) == SQLITE_INTERRUPT);
    CHECK(file.run(endless) == SQLITE_INTERRUPT);
  }
  CHECK(file.run(long_enough) == SQLITE_OK);
}

}  // namespace
}  // namespace gprofml::test
