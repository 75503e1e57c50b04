#include <catch2/catch.hpp>
#include <string>

#include "libprofile/capture/machine/spool_names.hpp"
#include "libprofile/capture/machine/thread_times.hpp"

namespace gprofml::profile {
namespace {

TEST_CASE("schedstat says how long a thread ran, could have run, and how often") {
  CHECK(thread_times("9134012399 812735 4711\n") == ThreadTimes{9134012399, 812735, 4711});
  CHECK(thread_times("0 0 0\n") == ThreadTimes{0, 0, 0});
  for (const char* const other :
       {"", "\n", "1 2\n", "a b c\n", "1 2 3 4\n", "1 2 99999999999999999999\n"}) {
    INFO('"' << other << '"');
    CHECK_FALSE(thread_times(other).has_value());
  }
}

TEST_CASE("A thread's state is found behind whatever it calls itself") {
  // proc(5): start time is field 22, the CPU field 39.
  const std::string rest =
      " S 1 2 3 4 -1 4194560 5 6 7 8 9 10 11 12 20 0 48 0 123456 1 2 18446744073709551615 "
      "1 1 0 0 0 0 0 0 0 0 0 0 17 13 0 0 0 0 0 0\n";
  for (const std::string name : {"python3", "a b", "(sd-pam)", "x) R 1", ""}) {
    INFO(name);
    const auto state = thread_state("4711 (" + name + ")" + rest);
    REQUIRE(state);
    CHECK(state->name == name);
    CHECK(state->last_cpu == 13);
    CHECK(state->start_ticks == 123456);
  }
  CHECK_FALSE(thread_state(""));
  CHECK_FALSE(thread_state("4711 (name"));
  CHECK_FALSE(thread_state("4711 (name) S 1 2"));
  CHECK_FALSE(thread_state(") 4711 ("));
}

TEST_CASE("A spool's name says whose it is") {
  const std::string end = "-1772366400000000000-00000000000000ff.spool";
  CHECK(pid_of_spool("node-4711" + end, "node") == 4711);
  CHECK(pid_of_spool("node-7-b-4711" + end, "node-7-b") == 4711);
  CHECK(pid_of_spool("a_b-4711" + end, "a/b") == 4711);
  for (const std::string& other :
       {"node2-4711" + end, "nod-4711" + end, "node-x" + end, "node--1" + end, "node-" + end,
        std::string("node-4711-1-2.spoo"), std::string("manifest"), std::string(".spool"),
        std::string()}) {
    INFO(other);
    CHECK_FALSE(pid_of_spool(other, "node"));
  }
}

}  // namespace
}  // namespace gprofml::profile
