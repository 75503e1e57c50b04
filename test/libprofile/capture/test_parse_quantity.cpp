#include <catch2/catch.hpp>

#include "libprofile/capture/parse_quantity.hpp"

using namespace gprofml::profile;

TEST_CASE("times are read to the nanosecond") {
  CHECK(parse_duration("10us") == 10'000);
  CHECK(parse_duration("2s") == 2'000'000'000);
  CHECK(parse_duration("0.000000001s") == 1);
  CHECK(parse_duration("1.0000000019s") == 1'000'000'001);  // cut off, not rounded
  CHECK(parse_duration("1.5min") == 90'000'000'000);
  CHECK(parse_duration("2.000000000001h") == 7'200'000'000'003);
  CHECK(parse_duration("0") == 0);
  CHECK(parse_duration("9223372036854775807ns") == 9'223'372'036'854'775'807);
}

TEST_CASE("what is no time is refused") {
  for (const char* const text : {"", "5", "s", "-1s", "1 s", "1.s", ".5s", "1S", "1e3s", "0x1s",
                                 "9223372036854775808ns", "99999999999999999999s", "3000000h"}) {
    INFO(text);
    CHECK(!parse_duration(text));
  }
}

TEST_CASE("sizes") {
  CHECK(parse_size("4GiB") == std::uint64_t{4} << 30);
  CHECK(parse_size("1.5KiB") == 1536);
  CHECK(parse_size("500MB") == 500'000'000);
  CHECK(parse_size("123") == 123);
  CHECK(parse_size("0") == 0);
  CHECK(parse_size("18446744073709551615B") == ~std::uint64_t{0});
  CHECK(parse_size("0.000000000001TB") == 1);
  for (const char* const text : {"", "GiB", "4gib", "4 GiB", "-4GiB", "18446744073709551616",
                                 "18446744073709551615kB", "16777216TiB"}) {
    INFO(text);
    CHECK(!parse_size(text));
  }
}

TEST_CASE("shares") {
  CHECK(parse_share_ppm("3%") == 30'000);
  CHECK(parse_share_ppm("0.5%") == 5'000);
  CHECK(parse_share_ppm("100%") == 1'000'000);
  for (const char* const text : {"", "3", "101%", "100.0001%", "%", "3 %", "-1%"}) {
    INFO(text);
    CHECK(!parse_share_ppm(text));
  }
}
