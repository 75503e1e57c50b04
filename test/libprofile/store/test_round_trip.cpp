// A trace that was written and read back is the same trace.
#include <catch2/catch.hpp>
#include <fstream>

#include "libprofile/store/store.hpp"
#include "test/libprofile/store/random_trace.hpp"
#include "test/libprofile/trace/difference.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {
namespace {

using profile::Trace;

Trace round_trip(const Trace& trace) {
  const TemporaryFolder folder;
  profile::write_run_db(trace, folder / "run.db");
  return profile::read_run_db(folder / "run.db");
}

TEST_CASE("every column of a rich trace comes back") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Trace trace = random_trace(seed);
    INFO("seed " << seed);
    REQUIRE(profile::first_inconsistency(trace).value_or("") == "");
    CHECK(first_difference(trace, round_trip(trace)) == "");
  }
}

TEST_CASE("an empty trace comes back empty") {
  const Trace trace;
  const Trace back = round_trip(trace);
  CHECK(first_difference(trace, back) == "");
  CHECK(back.meta.empty());
  CHECK(back.clock.bound_ns == profile::kUnknown);
}

TEST_CASE("the same trace makes the same file") {
  const TemporaryFolder folder;
  const auto bytes = [&folder](const std::string& name) {
    profile::write_run_db(random_trace(7), folder / name);
    std::ifstream in(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  CHECK(bytes("a.db") == bytes("b.db"));
}

TEST_CASE("the number of rows does not matter to statements of many rows") {
  for (const std::size_t rows : {0U, 1U, 63U, 64U, 65U, 128U, 4095U, 4096U, 4097U, 9000U}) {
    Trace trace;
    for (std::size_t i = 0; i < rows; ++i) {
      profile::GraphNode node;
      node.node_id = static_cast<std::int64_t>(i);
      trace.graph_nodes.push_back(node);
    }
    INFO(rows << " rows");
    CHECK(first_difference(trace, round_trip(trace)) == "");
  }
}

TEST_CASE("paths that SQLite would read as something else name files") {
  const TemporaryFolder folder;
  const auto home = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  for (const char* path :
       {":memory:", "file:run.db", "file:a?mode=memory", "a%41#?b.db", "line\nbreak"}) {
    INFO(path);
    profile::write_run_db(random_trace(1), path);
    CHECK(std::filesystem::exists(folder.path() / path));
    CHECK(profile::read_run_db(path).kernels.size() == random_trace(1).kernels.size());
  }
  std::filesystem::current_path(home);
}

TEST_CASE("the comparison sees a change in any column") {
  const Trace trace = random_trace(3);
  Trace other = trace;
  other.kernels.sequence[17] ^= 1;
  CHECK(first_difference(trace, other).find("kernels.sequence differs from row 17 ") == 0);
  other = trace;
  other.collectives.ranks.pop_back();
  CHECK(first_difference(trace, other).find("collectives.ranks differs ") == 0);
  other = trace;
  other.launch_configs[2].cluster[1] ^= 1;
  CHECK(first_difference(trace, other) == "launch_configs");
}

}  // namespace
}  // namespace gprofml::test
