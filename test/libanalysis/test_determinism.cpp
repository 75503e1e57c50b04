// The same events give the same report: whatever their order in the file, the number of threads
// that read it, or the journey through run.db.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "libanalysis/report/json.hpp"
#include "libprofile/import/import.hpp"
#include "libprofile/store/store.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/seeds.hpp"
#include "test/synth/random_program.hpp"
#include "test/synth/shuffle.hpp"
#include "test/synth/to_kineto.hpp"
#include "test/temporary_folder.hpp"

using namespace gprofml;

namespace {

profile::Trace import_text(const test::TemporaryFolder& folder, const std::string& json,
                           int threads) {
  const std::string path = folder / "trace.json";
  std::ofstream(path, std::ios::binary) << json;
  profile::ImportOptions options;
  options.threads = threads;
  options.window_bytes = 4096;  // many windows, so that two threads do interleave
  return profile::import_file(path, options);
}

std::string report_json(const profile::Trace& trace) {
  analysis::JsonOptions options;
  options.path = true;
  analysis::AnalyzeOptions analyze;
  analyze.window.kind = analysis::WindowRequest::Kind::all;
  analyze.path = true;
  return analysis::render_json(analysis::analyze(trace, analyze), options);
}

synth::Execution execution(int seed, bool ties) {
  synth::ProgramShape shape = synth::random_shape(static_cast<std::uint64_t>(seed));
  shape.ties = ties;
  return synth::run(synth::random_program(static_cast<std::uint64_t>(seed), shape));
}

}  // namespace

TEST_CASE("one or two threads, and run.db in between: byte-identical JSON") {
  const test::TemporaryFolder folder;
  const int seeds = test::seed_count(100);
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const std::string json = synth::to_kineto_json(execution(seed, seed % 2 == 0));
    const profile::Trace one = import_text(folder, json, 1);
    const std::string expected = report_json(one);
    CHECK(report_json(import_text(folder, json, 2)) == expected);
    const std::string db = folder / "run.db";
    std::filesystem::remove(db);
    profile::write_run_db(one, db);
    CHECK(report_json(profile::read_run_db(db)) == expected);
  }
}

TEST_CASE("events shuffled in the file: identical where no two of them tie in time") {
  const test::TemporaryFolder folder;
  const int seeds = test::seed_count(100);
  for (int seed = 1; seed <= seeds; ++seed) {
    INFO("seed " << seed);
    const std::string json = synth::to_kineto_json(execution(seed, false));
    const std::string expected = report_json(import_text(folder, json, 1));
    for (std::uint64_t order = 1; order <= 3; ++order) {
      const std::string shuffled = synth::shuffle_kineto_events(json, order);
      REQUIRE(shuffled != json);
      CHECK(report_json(import_text(folder, shuffled, 2)) == expected);
    }
  }
}

namespace {

// One rank's trace: device 0, on a host, with or without a UUID.
profile::Trace rank_trace(std::int64_t rank, const std::string& host, const std::string& uuid) {
  synth::RecordOptions options;
  options.rank = rank;
  options.host = host;
  synth::ProgramShape shape;
  shape.activities = 20;
  profile::Trace trace = synth::to_trace(
      synth::run(synth::random_program(static_cast<std::uint64_t>(rank) + 1, shape)), options);
  REQUIRE(trace.devices.size() == 1);
  if (!uuid.empty()) {
    trace.devices[0].uuid = trace.intern(uuid);
    trace.devices[0].process = profile::kNoRow;
  }
  profile::canonicalise(trace);
  return trace;
}

profile::Trace together(profile::Trace a, const profile::Trace& b) {
  profile::append(a, b);
  profile::canonicalise(a);
  return a;
}

}  // namespace

TEST_CASE("two ranks that both say device 0 are two devices") {
  const auto two_hosts =
      test::analyze_all(together(rank_trace(0, "node-a", ""), rank_trace(1, "node-b", "")));
  REQUIRE(two_hosts.devices.size() == 2);
  CHECK(two_hosts.devices[0].id == 0);
  CHECK(two_hosts.devices[1].id == 0);
  CHECK(two_hosts.devices[0].host != two_hosts.devices[1].host);

  const auto two_uuids = test::analyze_all(
      together(rank_trace(0, "node-a", "GPU-1"), rank_trace(1, "node-a", "GPU-2")));
  REQUIRE(two_uuids.devices.size() == 2);
  CHECK(two_uuids.devices[0].uuid != two_uuids.devices[1].uuid);
}

TEST_CASE("two processes on one UUID are one device, busy with the union of both") {
  const profile::Trace a = rank_trace(0, "node-a", "GPU-1");
  const profile::Trace b = rank_trace(1, "node-a", "GPU-1");
  const auto report = test::analyze_all(together(a, b));
  REQUIRE(report.devices.size() == 1);
  const analysis::DeviceTimeline& d = report.devices[0].timeline;
  const auto alone_a = test::analyze_all(a).devices.at(0).timeline;
  const auto alone_b = test::analyze_all(b).devices.at(0).timeline;
  CHECK(d.kernels == alone_a.kernels + alone_b.kernels);
  CHECK(d.busy_ns < alone_a.busy_ns + alone_b.busy_ns);  // both begin at once: they overlap
  CHECK(d.busy_ns >= std::max(alone_a.busy_ns, alone_b.busy_ns));
}
