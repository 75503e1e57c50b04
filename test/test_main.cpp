#include "test/run_tests.hpp"

int main(int argc, char** argv) {
  return gprofml::test::run_tests(argc, argv);
}
