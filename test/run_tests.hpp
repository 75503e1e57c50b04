// The one door to Catch2's implementation, so that main programs need not compile it.
#pragma once

namespace gprofml::test {

/// Runs the test cases that the arguments choose; the exit code.
int run_tests(int argc, char** argv);

}  // namespace gprofml::test
