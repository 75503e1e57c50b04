// What the tests against ../shared have in common: the oracle's lines and the traces they name.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "libanalysis/analyze.hpp"
#include "libprofile/import/import.hpp"
#include "libprofile/store/store.hpp"
#include "test/libanalysis/analysis_support.hpp"
#include "test/temporary_folder.hpp"

namespace gprofml::test {

inline std::vector<nlohmann::json> oracle_lines(const std::string& name) {
  std::ifstream file(std::string(GPROFML_SHARED_DIR) + "/oracle/" + name);
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

/// The Chrome-JSON files among the oracle's: those with `traceEvents`, or a bare array, of Kineto
/// categories. Nsight Systems databases, rocprofv3 JSON and look-alikes come with a later issue.
inline bool is_chrome_json(const std::string& file) {
  return file.find(".sqlite") == std::string::npos && file.find("rocprof__") == std::string::npos;
}

inline std::string shared_trace(const std::string& file) {
  return std::string(GPROFML_SHARED_DIR) + "/traces/" + file;
}

/// The same trace after a journey through run.db.
inline profile::Trace through_run_db(const profile::Trace& trace) {
  const TemporaryFolder folder;
  profile::write_run_db(trace, folder / "run.db");
  return profile::read_run_db(folder / "run.db");
}

}  // namespace gprofml::test
