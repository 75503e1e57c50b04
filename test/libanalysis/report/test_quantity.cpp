#include <algorithm>
#include <catch2/catch.hpp>

#include "libanalysis/report/quantity.hpp"
#include "libanalysis/report/wrap.hpp"

namespace gprofml::analysis {
namespace {

std::string duration(profile::Nanoseconds ns) {
  std::string text = duration_text(ns);
  std::replace(text.begin(), text.end(), kGlue, ' ');
  return text;
}

TEST_CASE("durations choose their unit") {
  CHECK(duration(0) == "0 ns");
  CHECK(duration(850) == "850 ns");
  CHECK(duration(1'100) == "1.1 us");
  CHECK(duration(9'620'000) == "9.62 ms");
  CHECK(duration(185'340'000) == "185.3 ms");
  CHECK(duration(61'449'000'000) == "61.4 s");
  CHECK(duration(43'200'000'000'000) == "43,200.0 s");
}

TEST_CASE("counts have thousands separators, times from 10,000 on") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(1'661) == "1,661");
  CHECK(count_text(-1'234'567) == "-1,234,567");
  CHECK(fixed(38'520, 1) == "3852.0");
  CHECK(fixed(1'234'567, 1) == "123,456.7");
  CHECK(fixed(7, 3) == "0.007");
  CHECK(fixed(42, 0) == "42");
}

TEST_CASE("a table's unit gives its largest time a decimal and no more than six digits before it") {
  CHECK(unit_for(3'852'000'000).name == "ms");
  CHECK(unit_for(340'450).name == "us");
  CHECK(unit_for(9'999).name == "ns");
  CHECK(unit_for(2'000'000'000'000).name == "s");
  CHECK(fine_unit_for(9'620'000).name == "ms");
  CHECK(fine_unit_for(9'620'000).decimals == 2);
}

}  // namespace
}  // namespace gprofml::analysis
