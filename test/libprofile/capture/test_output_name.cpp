#include <catch2/catch.hpp>

#include "libprofile/capture/merge.hpp"
#include "libprofile/capture/output_name.hpp"

using gprofml::profile::absolute_path;
using gprofml::profile::CaptureError;
using gprofml::profile::expand_output_name;

TEST_CASE("An output's name is expanded", "[output_name]") {
  CHECK(expand_output_name("run.db", 7, "node") == "run.db");
  CHECK(expand_output_name("%h/run-%p.db", 41207, "node3") == "node3/run-41207.db");
  CHECK(expand_output_name("%%p%%%p", 5, "node") == "%p%5");
  CHECK(expand_output_name("run.%r.db", 5, "node", 12) == "run.12.db");
  CHECK(expand_output_name("", 5, "node").empty());
}

TEST_CASE("A host's name cannot lead to another folder", "[output_name]") {
  CHECK(expand_output_name("%h.db", 1, "../../etc") == ".._.._etc.db");
}

TEST_CASE("Other letters behind a percent sign are refused", "[output_name]") {
  for (const char* pattern : {"%", "a%", "%x", "100%.db", "%%%", "%P"}) {
    CAPTURE(pattern);
    CHECK_THROWS_AS(expand_output_name(pattern, 1, "node"), CaptureError);
  }
}

TEST_CASE("A rank is asked for where there is none", "[output_name]") {
  CHECK_THROWS_WITH(expand_output_name("run.%r.db", 1, "node"),
                    Catch::Contains("OMPI_COMM_WORLD_RANK") && Catch::Contains("mpirun"));
}

TEST_CASE("Paths from the root are as short as they can be", "[output_name]") {
  CHECK(absolute_path("/a/./b/../c.db") == "/a/c.db");
  CHECK(absolute_path("c.db").front() == '/');
}
