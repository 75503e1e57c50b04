// The schema, the rows in it and docs/run-db.md agree.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "libprofile/store/schema.hpp"
#include "libprofile/store/store.hpp"
#include "test/libprofile/store/random_trace.hpp"
#include "test/libprofile/store/sql.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

/// "column TYPE" in order, by table or view.
using Columns = std::map<std::string, std::vector<std::string>>;

struct RunDb {
  explicit RunDb(const profile::Trace& trace) { profile::write_run_db(trace, path); }

  std::vector<SqlRow> query(const std::string& sql) const { return run_sql(path, sql); }
  std::vector<std::string> names(const std::string& type) const {
    std::vector<std::string> names;
    for (const SqlRow& row : query("SELECT name FROM sqlite_schema WHERE type = '" + type + "'")) {
      names.push_back(row[0]);
    }
    return names;
  }

  TemporaryFolder folder;
  std::string path = folder / "run.db";
};

Columns columns_of(const RunDb& db, const std::string& type) {
  Columns columns;
  for (const std::string& table : db.names(type)) {
    for (const SqlRow& row : db.query("PRAGMA table_xinfo(\"" + table + "\")")) {
      columns[table].push_back(type == "view" ? row[1] : row[1] + " " + row[2]);
    }
  }
  return columns;
}

/// The text between the n-th pair of back quotes.
std::string quoted(const std::string& line, std::size_t n) {
  std::size_t begin = 0;
  for (std::size_t i = 0; i < 2 * n + 1; ++i) begin = line.find('`', begin) + 1;
  return line.substr(begin, line.find('`', begin) - begin);
}

/// What docs/run-db.md says under "## Tables": a heading a table, a line a column.
Columns documented_tables() {
  std::ifstream in(std::string(GPROFML_SOURCE_DIR) + "/docs/run-db.md");
  Columns columns;
  std::string table;
  for (std::string line; std::getline(in, line) && line != "## Views";) {
    if (line.rfind("### `", 0) == 0) table = quoted(line, 0);
    if (line.rfind("| `", 0) != 0) continue;
    const std::size_t type = line.find(" | ") + 3;
    columns[table].push_back(quoted(line, 0) + " " +
                             line.substr(type, line.find(" | ", type) - type));
    REQUIRE(line.size() > line.find(" | ", type) + 6);  // a meaning
  }
  return columns;
}

Columns documented_views() {
  std::ifstream in(std::string(GPROFML_SOURCE_DIR) + "/docs/run-db.md");
  Columns columns;
  std::string view;
  bool in_views = false;
  for (std::string line; std::getline(in, line);) {
    in_views = in_views || line == "## Views";
    if (!in_views) continue;
    if (line.rfind("### `", 0) == 0) view = quoted(line, 0);
    if (line.rfind("Columns: ", 0) != 0) continue;
    const auto quotes = std::count(line.begin(), line.end(), '`');
    for (std::size_t n = 0; n < static_cast<std::size_t>(quotes) / 2; ++n)
      columns[view].push_back(quoted(line, n));
  }
  return columns;
}

TEST_CASE("docs/run-db.md names the tables, columns and types of the schema") {
  const RunDb db(profile::Trace{});
  CHECK(documented_tables() == columns_of(db, "table"));
  CHECK(documented_views() == columns_of(db, "view"));
}

TEST_CASE("the schema has the tables that the architecture names") {
  const RunDb db(profile::Trace{});
  const auto names = db.names("table");
  const std::set<std::string> expected{"meta",
                                       "process",
                                       "thread",
                                       "device",
                                       "context",
                                       "stream",
                                       "string",
                                       "launch_config",
                                       "kernel",
                                       "copy",
                                       "fill",
                                       "api_call",
                                       "sync",
                                       "cuda_event",
                                       "range",
                                       "range_payload",
                                       "memory_event",
                                       "graph_node",
                                       "graph_edge",
                                       "gpu_sample",
                                       "counter_metric",
                                       "counter_sample",
                                       "kernel_counter",
                                       "collective",
                                       "clock_pair",
                                       "overhead",
                                       "quality",
                                       "thread_sample",
                                       "memory_pool_event",
                                       "migration",
                                       "graph_launch",
                                       "stack_frame",
                                       "call_stack",
                                       "module",
                                       "window",
                                       "capture_event"};
  CHECK(std::set<std::string>(names.begin(), names.end()) == expected);
  CHECK(columns_of(db, "table")["kernel"].size() <= 12);
}

TEST_CASE("the file says what it is") {
  const RunDb db(profile::Trace{});
  CHECK(db.query("PRAGMA application_id")[0][0] == std::to_string(profile::kApplicationId));
  CHECK(db.query("PRAGMA user_version")[0][0] == "1");
  CHECK(db.query("SELECT value FROM meta WHERE key = 'schema_version'")[0][0] == "1");
  CHECK(db.query("SELECT value FROM meta WHERE key = 'tool_version'")[0][0].find('.') !=
        std::string::npos);
  CHECK(db.query("SELECT * FROM meta WHERE key = 'clock_bound_ns'").empty());
  CHECK(db.query("PRAGMA integrity_check")[0][0] == "ok");
}

TEST_CASE("every value of a rich trace has the type its column declares, or is NULL") {
  const RunDb db(random_trace(11));
  std::size_t filled = 0;
  for (const std::string& table : db.names("table")) {
    for (const SqlRow& column : db.query("PRAGMA table_xinfo(\"" + table + "\")")) {
      INFO(table << "." << column[1]);
      const std::string type = column[2];
      const bool not_null = column[3] == "1";
      for (const SqlRow& found :
           db.query("SELECT DISTINCT typeof(\"" + column[1] + "\") FROM \"" + table + "\"")) {
        const bool as_declared = (type == "INTEGER" && found[0] == "integer") ||
                                 (type == "TEXT" && found[0] == "text") ||
                                 (type == "REAL" && found[0] == "real");
        CHECK((as_declared || (found[0] == "null" && !not_null)));
        filled += as_declared ? 1U : 0U;
      }
    }
  }
  CHECK(filled > 120);
  for (const char* table :
       {"kernel",     "copy",       "fill",       "api_call", "range",   "sync",   "memory_event",
        "collective", "process",    "thread",     "device",   "context", "stream", "launch_config",
        "graph_node", "graph_edge", "cuda_event", "overhead", "quality", "meta",   "string"}) {
    INFO(table);
    CHECK(db.query(std::string("SELECT count(*) FROM \"") + table + "\"")[0][0] != "0");
  }
}

TEST_CASE("every reference of a rich trace leads somewhere and every view shows each row once") {
  const RunDb db(random_trace(12));
  CHECK(db.query("PRAGMA foreign_key_check").empty());
  for (const std::string& view : db.names("view")) {
    INFO(view);
    const std::string table = view.substr(0, view.rfind("_named"));
    CHECK(db.query("SELECT count(*), count(DISTINCT id) FROM " + view) ==
          db.query("SELECT count(*), count(*) FROM \"" + table + "\""));
  }
}

/// One kernel with all that a view can say of it.
profile::Trace one_kernel() {
  profile::Trace trace;
  trace.processes.push_back({4242, 3, trace.intern("node7"), 0, 0});
  trace.threads.push_back({0, 4242, 4243, trace.intern("main")});
  profile::Device device;
  device.ordinal = 1;
  device.name = trace.intern("NVIDIA H100");
  trace.devices.push_back(device);
  trace.contexts.push_back({0, 0, 8});
  trace.streams.push_back({0, 7});
  trace.launch_configs.emplace_back();
  trace.launch_configs[0].grid = {128, 2, 1};
  trace.graph_nodes.push_back({0, 5, 6});
  trace.api_calls = {{100}, {110}, {trace.intern("cudaLaunchKernel")},
                     {0},   {99},  {profile::ApiKind::runtime},
                     {0}};
  trace.ranges = {{90}, {400}, {trace.intern("aten::mm")}, {0}, {profile::RangeKind::op}, {0},
                  {12}, {0},   {profile::kUnknown}};
  profile::KernelColumns& kernels = trace.kernels;
  kernels.start_ns = {150};
  kernels.end_ns = {175};
  kernels.name = {trace.intern("gemm")};
  kernels.stream = {0};
  kernels.launch = {0};
  kernels.correlation = {99};
  kernels.graph_node = {0};
  kernels.op = {0};
  kernels.sequence = {0};
  kernels.launch_config = {0};
  return trace;
}

TEST_CASE("kernel_named, api_call_named and range_named join the names in") {
  const RunDb db(one_kernel());
  CHECK(db.query(
            "SELECT name, duration_ns, device_ordinal, stream_id, process_pid, rank, launch_name, "
            "launch_start_ns, op_name, grid_x, grid_y, block_x, graph_id, node_id, correlation "
            "FROM kernel_named") ==
        std::vector<SqlRow>{{"gemm", "25", "1", "7", "4242", "3", "cudaLaunchKernel", "100",
                             "aten::mm", "128", "2", "NULL", "5", "6", "99"}});
  CHECK(db.query(
            "SELECT name, duration_ns, kind, tid, thread_name, process_pid FROM api_call_named") ==
        std::vector<SqlRow>{{"cudaLaunchKernel", "10", "runtime", "4243", "main", "4242"}});
  CHECK(db.query("SELECT name, kind, domain, external_id FROM range_named") ==
        std::vector<SqlRow>{{"aten::mm", "op", "", "12"}});
}

TEST_CASE("a kernel without a launch record has launch NULL") {
  profile::Trace trace = one_kernel();
  trace.kernels.launch[0] = profile::kNoRow;
  const RunDb db(trace);
  CHECK(db.query("SELECT launch FROM kernel")[0][0] == "NULL");
  CHECK(db.query("SELECT name, launch_name FROM kernel_named") ==
        std::vector<SqlRow>{{"gemm", "NULL"}});
}

TEST_CASE("the words of the views are those of the enums") {
  const RunDb db(random_trace(13));
  const auto words = [&db](const std::string& view, const std::string& column) {
    const std::string table = view.substr(0, view.rfind("_named"));
    std::vector<std::string> found;
    for (const SqlRow& row : db.query("SELECT DISTINCT t." + column + ", v." + column + " FROM \"" +
                                      table + "\" t JOIN " + view + " v USING (id) ORDER BY 1")) {
      found.push_back(row[1]);
    }
    return found;
  };
  using Words = std::vector<std::string>;
  const Words memory{"unknown", "pageable", "pinned",       "device",
                     "array",   "managed",  "device_static"};
  CHECK(words("copy_named", "kind") == Words{"unknown", "host_to_device", "device_to_host",
                                             "device_to_device", "host_to_host", "peer_to_peer",
                                             "host_to_array", "array_to_host", "array_to_array",
                                             "array_to_device", "device_to_array"});
  CHECK(words("copy_named", "source_memory") == memory);
  CHECK(words("copy_named", "target_memory") == memory);
  CHECK(words("fill_named", "memory") == memory);
  CHECK(words("api_call_named", "kind") == Words{"runtime", "driver"});
  CHECK(words("range_named", "kind") ==
        Words{"op", "annotation", "push_pop", "start_end", "python_function"});
  CHECK(words("stream_named", "flags") ==
        Words{"unknown", "blocking", "non_blocking", "null_stream", "per_thread"});
  CHECK(words("sync_named", "kind") ==
        Words{"unknown", "stream", "event", "stream_wait_event", "context"});
}

}  // namespace
}  // namespace gprofml::test
