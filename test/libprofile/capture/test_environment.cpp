#include "libprofile/capture/environment.hpp"

#include <catch2/catch.hpp>
#include <map>

using namespace gprofml::profile;

namespace {

using Variables = std::map<std::string, std::string>;

RecordingEnvironment planned(const Variables& inherited) {
  return recording_environment("/lib/libgprofml_injection.so", "/spools", [&](const char* name) {
    const auto found = inherited.find(name);
    return found == inherited.end() ? nullptr : found->second.c_str();
  });
}

const Variables kAll{{"CUDA_INJECTION64_PATH", "/lib/libgprofml_injection.so"},
                     {"NVTX_INJECTION64_PATH", "/lib/libgprofml_injection.so"},
                     {"GPROFML_SPOOL_DIR", "/spools"}};

}  // namespace

TEST_CASE("A program without other tools gets all variables", "[environment]") {
  CHECK(planned({{"PATH", "/bin"}}).variables == kAll);
  CHECK(planned({{"CUDA_INJECTION64_PATH", ""}}).variables == kAll);
}

TEST_CASE("A recording inside a recording is ours", "[environment]") {
  const RecordingEnvironment environment =
      planned({{"CUDA_INJECTION64_PATH", "/other/libgprofml_injection.so"},
               {"NVTX_INJECTION64_PATH", "/other/libgprofml_injection.so"},
               {"GPROFML_SPOOL_DIR", "/outer"}});
  CHECK(environment.variables == kAll);
  CHECK(environment.problems.empty());
}

TEST_CASE("What another tool has set stays, and is named", "[environment]") {
  const RecordingEnvironment one = planned({{"CUDA_INJECTION64_PATH", "/opt/nsys/lib.so"}});
  CHECK(one.variables.count("CUDA_INJECTION64_PATH") == 0);
  CHECK(one.variables.count("NVTX_INJECTION64_PATH") == 1);
  REQUIRE(one.problems.size() == 1);
  CHECK(one.problems[0].code == "cuda_variable_taken");
  CHECK(one.problems[0].detail.find("/opt/nsys/lib.so") != std::string::npos);

  const RecordingEnvironment both =
      planned({{"CUDA_INJECTION64_PATH", "/a.so"}, {"NVTX_INJECTION64_PATH", "/b.so"}});
  CHECK(both.variables.empty());
  CHECK(both.problems.size() == 2);
}
