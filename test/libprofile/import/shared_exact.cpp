// Every Chrome-JSON file of the oracle imports with its exact counts.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "libprofile/import/import.hpp"

using namespace gprofml::profile;

namespace {

struct Counts {
  std::int64_t kernels = 0, copies = 0, fills = 0;
  std::int64_t kernel_ns = 0, copy_ns = 0, fill_ns = 0;
  bool operator==(const Counts&) const = default;
};

std::map<std::string, Counts> counts_of(const Trace& trace) {
  std::map<std::string, Counts> counts;
  const auto add = [&](const ActivityColumns& table, std::int64_t Counts::*count,
                       std::int64_t Counts::*sum) {
    for (std::size_t row = 0; row < table.size(); ++row) {
      const Device& device = trace.devices[trace.device_of_stream(table.stream[row])];
      Counts& mine = counts[std::to_string(device.ordinal)];
      ++(mine.*count);
      mine.*sum += table.end_ns[row] - table.start_ns[row];
    }
  };
  add(trace.kernels, &Counts::kernels, &Counts::kernel_ns);
  add(trace.copies, &Counts::copies, &Counts::copy_ns);
  add(trace.fills, &Counts::fills, &Counts::fill_ns);
  return counts;
}

std::map<std::string, Counts> counts_of(const nlohmann::json& devices) {
  std::map<std::string, Counts> counts;
  for (const auto& [ordinal, d] : devices.items())
    counts[ordinal] = {d["kernels"],   d["copies"],  d["fills"],
                       d["kernel_ns"], d["copy_ns"], d["fill_ns"]};
  return counts;
}

std::int64_t linked(const Trace& trace) {
  std::int64_t count = 0;
  for (const ActivityColumns* table : {static_cast<const ActivityColumns*>(&trace.kernels),
                                       static_cast<const ActivityColumns*>(&trace.copies),
                                       static_cast<const ActivityColumns*>(&trace.fills)})
    for (const RowIndex launch : table->launch) count += launch != kNoRow;
  return count;
}

bool is_chrome_json(const std::string& file) {
  return file.find(".json") != std::string::npos && file.find("rocprof__") == std::string::npos;
}

}  // namespace

TEST_CASE("kernels, copies, fills, links and launches equal the oracle's") {
  const std::string shared = GPROFML_SHARED_DIR;
  std::ifstream oracle(shared + "/oracle/exact.jsonl");
  int files = 0;
  for (std::string line; std::getline(oracle, line);) {
    const nlohmann::json expected = nlohmann::json::parse(line);
    const std::string file = expected["file"];
    if (!is_chrome_json(file)) continue;
    INFO(file);
    ++files;
    const Trace trace = import_file(shared + "/traces/" + file);
    REQUIRE(first_inconsistency(trace) == std::nullopt);
    CHECK((counts_of(trace) == counts_of(expected["devices"])));
    std::set<std::int64_t> launches(trace.api_calls.correlation.begin(),
                                    trace.api_calls.correlation.end());
    launches.erase(kUnknown);
    CHECK(launches.size() == expected["launches"].get<std::size_t>());
    CHECK(linked(trace) == expected["linked"].get<std::int64_t>());
    CHECK(
        static_cast<std::int64_t>(trace.kernels.size() + trace.copies.size() + trace.fills.size()) -
            linked(trace) ==
        expected["unlinked"].get<std::int64_t>());
  }
  CHECK(files >= 40);
}
