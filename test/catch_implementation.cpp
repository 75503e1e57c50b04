#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "test/run_tests.hpp"

namespace gprofml::test {

int run_tests(int argc, char** argv) {
  return Catch::Session().run(argc, argv);
}

}  // namespace gprofml::test
