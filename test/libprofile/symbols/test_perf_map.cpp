// Maps of code made at run time.
#include <catch2/catch.hpp>

#include "libprofile/symbols/perf_map.hpp"

using gprofml::profile::PerfMap;

namespace {

std::string name_at(const PerfMap& map, std::uint64_t address) {
  const PerfMap::Function* function = map.find(address);
  return function == nullptr ? "none" : function->name;
}

}  // namespace

TEST_CASE("Perf maps name code by its first and last byte", "[perf_map]") {
  const PerfMap map = PerfMap::parse(
      "7f0000001000 20 py::forward:/srv/app/model.py\n"
      "7f0000001020 10 v8::compiled code with blanks\n");
  CHECK(name_at(map, 0x7f0000000fff) == "none");
  CHECK(name_at(map, 0x7f0000001000) == "forward");
  CHECK(name_at(map, 0x7f000000101f) == "forward");
  CHECK(name_at(map, 0x7f0000001020) == "v8::compiled code with blanks");
  CHECK(name_at(map, 0x7f0000001030) == "none");
  CHECK(map.find(0x7f0000001000)->file == "/srv/app/model.py");
  CHECK(map.find(0x7f0000001020)->file.empty());
}

TEST_CASE("The last of two functions at one place is there", "[perf_map]") {
  const PerfMap map = PerfMap::parse(
      "1000 100 old\n"
      "2000 100 other\n"
      "1080 100 new\n");
  CHECK(name_at(map, 0x1000) == "none");  // the old one has been written over, as a whole
  CHECK(name_at(map, 0x1080) == "new");
  CHECK(name_at(map, 0x117f) == "new");
  CHECK(name_at(map, 0x2000) == "other");
}

TEST_CASE("Lines without sense in a perf map are left out", "[perf_map]") {
  const PerfMap map = PerfMap::parse(
      "\n"
      "not a line\n"
      "1000\n"
      "1000 10\n"
      "1000 10 \n"
      "1000 0 empty\n"
      "ffffffffffffffff 10 wraps\n"
      "0x3000 0x10 prefixed\n"
      "4000 10 cut of");
  CHECK(name_at(map, 0x1000) == "none");
  CHECK(name_at(map, 0xffffffffffffffff) == "none");
  CHECK(name_at(map, 0x3008) == "prefixed");
  CHECK(name_at(map, 0x4000) == "cut of");
  CHECK(PerfMap::read("/nowhere/at/all").empty());
}
