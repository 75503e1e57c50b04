// Files that are not what they should be: each ends in one line that names file and table.
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "libprofile/store/store.hpp"
#include "test/libprofile/store/random_trace.hpp"
#include "test/libprofile/store/sql.hpp"
#include "test/libprofile/trace/difference.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

/// What reading says, without "FILE: "; fails when it is not one line that starts so.
std::string refusal(const std::string& path) {
  try {
    profile::read_run_db(path);
  } catch (const profile::StoreError& error) {
    const std::string message = error.what();
    REQUIRE(message.substr(0, path.size() + 2) == path + ": ");
    REQUIRE(message.find('\n') == std::string::npos);
    return message.substr(path.size() + 2);
  }
  return "no error";
}

constexpr const char* kAgain = "; write the file again from its source";

/// A good run.db, changed by SQL.
struct Edited {
  explicit Edited(const std::string& sql) {
    profile::write_run_db(random_trace(21), path);
    run_sql(path, sql);
  }
  std::string refusal() const { return test::refusal(path); }

  TemporaryFolder folder;
  std::string path = folder / "run.db";
};

/// The refusal of a good run.db changed by `sql`.
std::string after(const std::string& sql) {
  return Edited(sql).refusal();
}

std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_CASE("files that are no SQLite database") {
  const TemporaryFolder folder;
  write_bytes(folder / "empty", "");
  write_bytes(folder / "json", std::string(200, '{'));
  write_bytes(folder / "short", "SQLite format 3" + std::string(30, '\0'));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(refusal(folder / "none") == "cannot be read: No such file or directory");
  CHECK(refusal(folder / "empty") == "is empty; record or import again");
  CHECK(refusal(folder / "json") == "is not an SQLite file (its first 16 bytes differ)");
  CHECK(refusal(folder / "short") == "is truncated at byte 45 of an SQLite header; copy it again");
  CHECK(refusal(folder / "pipe") == "is not a regular file; name a run.db");
  CHECK(refusal(folder.path().string()) == "is not a regular file; name a run.db");
}

TEST_CASE("is_sqlite looks at content, not at names, and never blocks") {
  const TemporaryFolder folder;
  profile::write_run_db({}, folder / "run.json");
  write_bytes(folder / "run.db", "{}");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(profile::is_sqlite(folder / "run.json"));
  CHECK_FALSE(profile::is_sqlite(folder / "run.db"));
  CHECK_FALSE(profile::is_sqlite(folder / "pipe"));
  CHECK_FALSE(profile::is_sqlite(folder / "none"));
  CHECK_FALSE(profile::is_sqlite(folder.path().string()));
}

TEST_CASE("SQLite files of other programs") {
  const TemporaryFolder folder;
  run_sql(
      folder / "nsys",
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER); CREATE TABLE StringIds(id, value)");
  run_sql(folder / "other", "CREATE TABLE meta(key, value)");
  CHECK(refusal(folder / "nsys") == "an SQLite file, but not a run.db (no table `meta`)");
  CHECK(refusal(folder / "other") ==
        "an SQLite file, but not a run.db (no `schema_version` in table `meta`)");
}

TEST_CASE("versions") {
  CHECK(after("UPDATE meta SET value = '2' WHERE key = 'schema_version'") ==
        "written by a newer gprof-ml (schema 2, this one reads up to 1); update gprof-ml");
  for (const std::string version : {"0", "-1", "one", "", "1 ", "99999999999999999999"}) {
    CHECK(after("UPDATE meta SET value = '" + version + "' WHERE key = 'schema_version'") ==
          "table `meta`: `schema_version` is \"" + version + "\", not a version" + kAgain);
  }
  CHECK(after("DELETE FROM meta WHERE key = 'schema_version'") ==
        "an SQLite file, but not a run.db (no `schema_version` in table `meta`)");
  CHECK(after("UPDATE meta SET value = 'soon' WHERE key = 'clock_bound_ns'") ==
        std::string("table `meta`: `clock_bound_ns` is \"soon\", not an integer") + kAgain);
}

TEST_CASE("what a later minor version adds is ignored") {
  const Edited edited(
      "CREATE TABLE tomorrow(id INTEGER PRIMARY KEY, x); INSERT INTO tomorrow VALUES (7, 'x');"
      "ALTER TABLE kernel ADD COLUMN cluster_scheduling INTEGER DEFAULT 5; ALTER TABLE string ADD "
      "COLUMN hash TEXT;"
      "CREATE INDEX by_name ON kernel(name); CREATE VIEW mine AS SELECT * FROM kernel_named;"
      "CREATE TRIGGER kernel AFTER INSERT ON kernel BEGIN SELECT 1; END; ANALYZE; DROP TABLE "
      "kernel_counter");
  CHECK(first_difference(random_trace(21), profile::read_run_db(edited.path)) == "");
}

TEST_CASE("files from before a table was added read as if it were empty") {
  const Edited edited(
      "DROP TABLE gpu_sample; DROP TABLE window; DROP TABLE call_stack; DROP TABLE "
      "graph_launch;");
  profile::Trace expected = random_trace(21);
  expected.gpu_samples = {};
  expected.windows = {};
  expected.call_stacks = {};
  expected.graph_launches = {};
  CHECK(first_difference(expected, profile::read_run_db(edited.path)) == "");
}

TEST_CASE("files from before a column was added read as if it said nothing") {
  const Edited edited(
      "ALTER TABLE stream RENAME COLUMN flags TO a; ALTER TABLE stream RENAME COLUMN priority TO b;"
      "ALTER TABLE graph_node RENAME COLUMN type TO a; ALTER TABLE graph_node RENAME COLUMN op TO "
      "b;"
      "ALTER TABLE graph_node RENAME COLUMN call TO c;"
      "ALTER TABLE api_call RENAME COLUMN result TO a;");
  profile::Trace expected = random_trace(21);
  for (profile::Stream& stream : expected.streams) {
    stream.flags = profile::StreamKind::unknown;
    stream.priority = profile::kUnknown;
  }
  for (profile::GraphNode& node : expected.graph_nodes) {
    node.type = 0;
    node.op = node.call = profile::kNoRow;
  }
  for (std::int64_t& result : expected.api_calls.result) result = profile::kUnknown;
  CHECK(first_difference(expected, profile::read_run_db(edited.path)) == "");
}

TEST_CASE("indexes that users make do not change the order of rows") {
  const Edited edited(
      "ALTER TABLE stream ADD COLUMN colour INTEGER; ALTER TABLE stream ADD COLUMN shape INTEGER;"
      "ALTER TABLE string ADD COLUMN hash TEXT; ALTER TABLE string ADD COLUMN demangled TEXT;"
      "CREATE INDEX a ON string(text); CREATE INDEX b ON stream(stream_id, "
      "context, flags, priority);");
  // What SQLite would do if left alone.
  REQUIRE(run_sql(edited.path, "EXPLAIN QUERY PLAN SELECT id, text FROM string")[0][3] ==
          "SCAN string USING COVERING INDEX a");
  CHECK(first_difference(random_trace(21), profile::read_run_db(edited.path)) == "");
}

TEST_CASE("tables and columns that are missing or are something else") {
  CHECK(after("DROP TABLE kernel") ==
        std::string("table `kernel`: there is no such table") + kAgain);
  CHECK(after("ALTER TABLE sync RENAME COLUMN event_id TO event") ==
        std::string("table `sync`: it stores no column `event_id`") + kAgain);
  CHECK(after("ALTER TABLE kernel RENAME TO k; CREATE VIEW kernel AS SELECT * FROM k") ==
        std::string("table `kernel`: it is a view, not a table") + kAgain);
  CHECK(after("DROP TABLE kernel; CREATE VIEW kernel AS WITH RECURSIVE r(n) AS "
              "(SELECT 0 UNION ALL SELECT n + 1 FROM r) SELECT n AS id FROM r") ==
        std::string("table `kernel`: it is a view, not a table") + kAgain);
  CHECK(after("DROP TABLE kernel; CREATE VIRTUAL TABLE kernel USING fts5(id, start_ns)") ==
        std::string("table `kernel`: it is a virtual table, not one of the file itself") + kAgain);
  CHECK(
      after(
          "DROP TABLE graph_node; CREATE TABLE graph_node(id INTEGER PRIMARY KEY, process INTEGER, "
          "graph_id INTEGER, node_id AS (length(hex(zeroblob(900000000)))))") ==
      std::string("table `graph_node`: it stores no column `node_id`") + kAgain);
  CHECK(
      after("DROP TABLE meta; CREATE VIEW meta AS SELECT 'schema_version' AS key, '1' AS value") ==
      std::string("table `meta`: it is a view, not a table") + kAgain);
}

TEST_CASE("a schema that disguises a view as a table") {
  const Edited edited(
      "DROP TABLE kernel; PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', "
      "'kernel', 'kernel', "
      "2, 'CREATE VIEW kernel AS WITH RECURSIVE r(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM r) "
      "SELECT n AS id FROM "
      "r')");
  CHECK(edited.refusal() == std::string("damaged: malformed database schema (kernel)") + kAgain);
  const Edited elsewhere(
      "DROP TABLE kernel; PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', "
      "'kernel', 'kernel', "
      "2, 'CREATE TABLE other(id)'), ('view', 'x', 'x', 0, 'CREATE VIEW kernel AS SELECT 1 AS "
      "id')");
  CHECK(elsewhere.refusal() != "no error");
}

TEST_CASE("values of another type") {
  CHECK(after("UPDATE kernel SET start_ns = 'soon' WHERE id = 3") ==
        std::string(
            "table `kernel`: column `start_ns` holds text in row 3 where an integer belongs") +
            kAgain);
  CHECK(after("UPDATE range SET end_ns = 1.5e18 + 0.5, start_ns = 0.5 WHERE id = 0") ==
        std::string("table `range`: column `start_ns` holds a real number in row 0 where an "
                    "integer belongs") +
            kAgain);
  CHECK(after("UPDATE copy SET bytes = x'00' WHERE id = 1") ==
        std::string("table `copy`: column `bytes` holds a blob in row 1 where an integer belongs") +
            kAgain);
  CHECK(
      after("PRAGMA legacy_alter_table = ON; CREATE TABLE t AS SELECT * FROM fill; UPDATE t SET "
            "sequence = NULL WHERE id = 2; DROP TABLE fill; "
            "ALTER TABLE t RENAME TO fill") ==
      std::string("table `fill`: column `sequence` holds NULL in row 2 where an integer belongs") +
          kAgain);
  CHECK(after("UPDATE string SET text = x'6162' WHERE id = 4") ==
        std::string("table `string`: column `text` holds a blob where text belongs") + kAgain);
  CHECK(after("UPDATE meta SET value = x'31' WHERE key = 'schema_version'") ==
        std::string("table `meta`: column `value` holds a blob where text belongs") + kAgain);
}

TEST_CASE("references and values out of range") {
  const profile::Trace trace = random_trace(21);
  const std::string last_stream = std::to_string(trace.streams.size() - 1);
  for (const std::string& value :
       {std::string("-1"), std::to_string(trace.streams.size()), std::string("4294967295"),
        std::string("4294967296"), std::string("9223372036854775807")}) {
    CHECK(after("UPDATE kernel SET stream = " + value + " WHERE id = 5") ==
          "table `kernel`: column `stream` holds " + value + " in row 5, values must lie in 0 .. " +
              last_stream + kAgain);
  }
  CHECK(after("UPDATE sync SET kind = 5 WHERE id = 0") ==
        std::string("table `sync`: column `kind` holds 5 in row 0, values must lie in 0 .. 4") +
            kAgain);
  CHECK(after("UPDATE fill SET memory = 260 WHERE id = 0") ==
        std::string("table `fill`: column `memory` holds 260 in row 0, values must lie in 0 .. 6") +
            kAgain);
  CHECK(after("UPDATE copy SET sequence = 4294967296 WHERE id = 0") ==
        std::string("table `copy`: column `sequence` holds 4294967296 in row 0, values must lie in "
                    "0 .. 4294967295") +
            kAgain);
  CHECK(after("UPDATE quality SET code = 4000000000 WHERE id = 1")
            .find("table `quality`: column `code` holds 4000000000 in row 1, values must lie in 0 "
                  ".. ") == 0);
}

TEST_CASE("what contradicts itself") {
  const std::string ends = after("UPDATE api_call SET start_ns = 10, end_ns = 9 WHERE id = 2");
  INFO(ends);
  CHECK(ends.find("api_calls row 2") != std::string::npos);
  const std::string none = after("UPDATE kernel SET stream = NULL WHERE id = 2");
  INFO(none);
  CHECK(none.find("kernels row 2") != std::string::npos);
}

TEST_CASE("ids that do not count up from 0") {
  CHECK(after("DELETE FROM kernel WHERE id = 0") ==
        std::string("table `kernel`: column `id` holds 1 in row 0, but ids count up from 0") +
            kAgain);
  CHECK(after("DELETE FROM process WHERE id = 1") ==
        std::string("table `process`: column `id` holds 2 in row 1, but ids count up from 0") +
            kAgain);
  CHECK(after("INSERT INTO string VALUES (9223372036854775807, 'far')")
            .find("table `string`: column `id` holds "
                  "9223372036854775807 in row ") == 0);
  CHECK(after("INSERT INTO kernel SELECT 9223372036854775807, start_ns, end_ns, name, stream, "
              "launch, launch_config, "
              "op, graph_node, correlation, sequence FROM kernel LIMIT 1")
            .find("table `kernel`: column `id` holds 9223372036854775807 in row ") == 0);
  CHECK(after("INSERT INTO stream(id, flags) VALUES (-1, 0)") ==
        std::string("table `stream`: column `id` holds -1 in row 0, but ids count up from 0") +
            kAgain);
  CHECK(after("PRAGMA legacy_alter_table = ON; CREATE TABLE t AS SELECT * FROM stream; UPDATE t "
              "SET id = 'a' WHERE rowid = 1; DROP TABLE stream; "
              "ALTER TABLE t RENAME TO stream") ==
        std::string("table `stream`: column `id` holds text in row 0, but ids count up from 0") +
            kAgain);
}

TEST_CASE("strings that are not the string table of a trace") {
  CHECK(after("DELETE FROM string") ==
        std::string("table `string`: row 0, the empty string, is missing") + kAgain);
  CHECK(after("UPDATE string SET text = 'x' WHERE id = 0") ==
        std::string("table `string`: row 0 is not the empty string") + kAgain);
  CHECK(after("UPDATE string SET text = (SELECT text FROM string WHERE id = 3) WHERE id = 8") ==
        std::string("table `string`: rows 3 and 8 hold the same text") + kAgain);
}

TEST_CASE("text in another encoding") {
  const TemporaryFolder folder;
  run_sql(folder / "run.db", "PRAGMA encoding = 'UTF-16le'; CREATE TABLE meta(key, value)");
  CHECK(refusal(folder / "run.db") ==
        std::string("its text is UTF-16le, that of a run.db is UTF-8") + kAgain);
}

TEST_CASE("hostile names do not break the line") {
  const Edited edited(
      "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema VALUES ('table', 'a', 'a', 2, "
      "'CREATE TABLE a(' || "
      "char(10) || char(27) || '[31m)')");
  const std::string message = edited.refusal();
  INFO(message);
  CHECK(message.find("damaged: ") == 0);
  CHECK(message.find('\x1b') == std::string::npos);
}

TEST_CASE("a file that waits for its journal or log") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.db";
  profile::write_run_db(random_trace(1), path);
  write_bytes(path + "-wal", "7");
  CHECK(refusal(path) == "has changes that wait in " + path +
                             "-wal; end the program that writes it, or run: sqlite3 " + path +
                             " 'PRAGMA journal_mode=DELETE'");
  write_bytes(path + "-wal", "");
  write_bytes(path + "-journal", std::string(512, '\0'));
  CHECK(refusal(path) == "no error");
  write_bytes(path + "-journal", "\xd9\xd5\x05\xf9");
  CHECK(refusal(path).find("has changes that wait in ") == 0);
}

TEST_CASE("a file in WAL mode in a folder that cannot be written") {
  const Edited edited("PRAGMA journal_mode = WAL");
  REQUIRE(read_bytes(edited.path)[18] == 2);
  REQUIRE(chmod(edited.path.c_str(), 0400) == 0);
  REQUIRE(chmod(edited.folder.path().c_str(), 0500) == 0);
  CHECK(first_difference(random_trace(21), profile::read_run_db(edited.path)) == "");
  CHECK(edited.folder.files() == 1);  // no -shm or -wal was made
  REQUIRE(chmod(edited.folder.path().c_str(), 0700) == 0);
}

TEST_CASE("reading changes nothing") {
  const TemporaryFolder folder;
  profile::write_run_db(random_trace(2), folder / "run.db");
  const std::string before = read_bytes(folder / "run.db");
  profile::read_run_db(folder / "run.db");
  CHECK(read_bytes(folder / "run.db") == before);
  CHECK(folder.files() == 1);
}

std::uint32_t big_endian_32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void set_big_endian_32(std::string& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (24 - 8 * i));
}

// https://www.sqlite.org/fileformat2.html#b_tree_pages: of a long payload of P bytes the first
// M = (U - 12) * 32 / 255 - 23 stay in the cell (U bytes a page), then follows the number of the
// first of a chain of overflow pages, each with U - 4 bytes of payload.
TEST_CASE("pages that several rows share do not multiply a file's text") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.db";
  profile::write_run_db({}, path);
  const std::size_t page = 256 * static_cast<unsigned char>(read_bytes(path)[16]);
  std::filesystem::remove(path);
  const std::size_t in_cell = (page - 12) * 32 / 255 - 23;
  constexpr std::size_t kPagesInChain = 38;
  constexpr std::size_t kRecordHeader = 5;
  const std::size_t payload = in_cell + kPagesInChain * (page - 4) - 100;

  profile::Trace trace;
  constexpr std::size_t kTexts = 6;
  for (std::size_t i = 0; i < kTexts; ++i) {
    std::string text = "text number " + std::to_string(i);
    text.resize(payload - kRecordHeader, 'x');
    trace.intern(text);
  }
  profile::write_run_db(trace, path);
  std::string bytes = read_bytes(path);
  std::vector<std::size_t> chains;
  for (std::size_t i = 0; i < kTexts; ++i) {
    const std::size_t text = bytes.find("text number " + std::to_string(i));
    chains.push_back(text - kRecordHeader + in_cell);
  }
  const std::uint32_t shared = big_endian_32(bytes, chains[0]);
  for (const std::size_t chain : chains) set_big_endian_32(bytes, chain, shared);
  const std::uint32_t pages = shared + kPagesInChain - 1;
  set_big_endian_32(bytes, 28, pages);
  write_bytes(path, bytes.substr(0, pages * page));

  // SQLite itself sees all the text, several times the size of the file.
  const std::string claimed = run_sql(path, "SELECT sum(length(text)) FROM string")[0][0];
  REQUIRE(std::stoul(claimed) == kTexts * (payload - kRecordHeader));
  REQUIRE(std::stoul(claimed) > 2 * pages * page);
  CHECK(refusal(path) ==
        std::string("table `string`: damaged: it holds more text than the file has bytes") +
            kAgain);
}

TEST_CASE("a file cut anywhere is refused or never crashes") {
  const TemporaryFolder folder;
  const std::string whole = folder / "whole.db";
  profile::write_run_db(random_trace(5), whole);
  const std::string bytes = read_bytes(whole);
  for (std::size_t length = 0; length < bytes.size(); length += length < 200 ? 1 : 1733) {
    const std::string cut = folder / "cut.db";
    write_bytes(cut, bytes.substr(0, length));
    const std::string message = refusal(cut);
    INFO(length << ": " << message);
    CHECK(message.find(length == 0   ? "is empty"
                       : length < 16 ? "is not an SQLite file"
                                     : "is truncated") == 0);
    // The same with a header that claims no length, so that SQLite itself meets the end.
    if (length < 100) continue;
    std::string silent = bytes.substr(0, length);
    silent[24] = static_cast<char>(silent[24] + 1);
    write_bytes(cut, silent);
    CHECK(refusal(cut) != "no error");
  }
}

TEST_CASE("damaged pages are refused or read, never crash") {
  const TemporaryFolder folder;
  const std::string path = folder / "run.db";
  profile::write_run_db(random_trace(6), path);
  const std::string bytes = read_bytes(path);
  std::mt19937_64 random(99);
  std::size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    for (std::uint64_t i = 1 + random() % 40; i > 0; --i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    write_bytes(path, damaged);
    refused += refusal(path) == "no error" ? 0U : 1U;
  }
  CHECK(refused > 100);
}

}  // namespace
}  // namespace gprofml::test
