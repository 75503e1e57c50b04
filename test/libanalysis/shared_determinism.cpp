// Every shared trace read with one and with two threads, in small windows: byte-identical JSON.
#include <catch2/catch.hpp>

#include "libanalysis/report/json.hpp"
#include "test/libanalysis/shared_support.hpp"

using namespace gprofml;

namespace {

std::string report_json(const std::string& file, int threads) {
  profile::ImportOptions import;
  import.threads = threads;
  import.window_bytes = std::size_t{64} << 10;
  analysis::AnalyzeOptions options;
  options.path = true;
  analysis::JsonOptions json;
  json.path = true;
  return analysis::render_json(
      analysis::analyze(profile::import_file(test::shared_trace(file), import), options), json);
}

}  // namespace

TEST_CASE("one or two threads: byte-identical JSON on every shared trace") {
  for (const nlohmann::json& line : test::oracle_lines("path.jsonl")) {
    const std::string file = line["file"];
    INFO(file);
    CHECK(report_json(file, 1) == report_json(file, 2));
  }
}
