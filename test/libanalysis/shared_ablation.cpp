// Ablation of every shared trace.
#include <catch2/catch.hpp>

#include "test/libanalysis/ablation_checks.hpp"
#include "test/libanalysis/shared_support.hpp"

using namespace gprofml;

TEST_CASE("ablation of every shared Chrome-JSON trace") {
  for (const nlohmann::json& line : test::oracle_lines("path.jsonl")) {
    const std::string file = line["file"];
    INFO(file);
    test::check_ablations(profile::import_file(test::shared_trace(file)), 1);
  }
}
