// Main of the tests that need ../shared: where it is absent they say so and CTest counts a skip.
#include <cstdio>
#include <filesystem>

#include "test/run_tests.hpp"

int main(int argc, char** argv) {
  if (!std::filesystem::exists(GPROFML_SHARED_DIR)) {
    std::printf("skipped: %s is not here, and these tests read its traces\n", GPROFML_SHARED_DIR);
    return 77;
  }
  return gprofml::test::run_tests(argc, argv);
}
