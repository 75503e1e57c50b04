#include <catch2/catch.hpp>
#include <random>
#include <string>

#include "libprofile/import/decimal_time.hpp"

using gprofml::profile::kLargestTime;
using gprofml::profile::nanoseconds_of_microseconds;

namespace {

std::int64_t ns(std::string_view text) {
  const auto value = nanoseconds_of_microseconds(text);
  REQUIRE(value.has_value());
  return *value;
}

}  // namespace

TEST_CASE("microseconds as text become nanoseconds, exactly") {
  CHECK(ns("0") == 0);
  CHECK(ns("-0") == 0);
  CHECK(ns("0.000") == 0);
  CHECK(ns("1") == 1000);
  CHECK(ns("1.5") == 1500);
  CHECK(ns("1.005") == 1005);
  CHECK(ns("-12.345") == -12345);
  // More than 53 bits: a double would be 256 ns off.
  CHECK(ns("1712195495505582.988") == 1712195495505582988);
  CHECK(ns("1606910596350714") == 1606910596350714000);
}

TEST_CASE("exponents are taken") {
  CHECK(ns("1e3") == 1000000);
  CHECK(ns("1.712195495505582988e15") == 1712195495505582988);
  CHECK(ns("12345E-3") == 12345);
  CHECK(ns("1.5e+0") == 1500);
  CHECK(ns("0e999999999999") == 0);
  CHECK(ns("1e-999999999999") == 0);
  CHECK(ns("1000000000000000000000e-20") == 10000);
}

TEST_CASE("more than three decimals are rounded half to even") {
  CHECK(ns("0.0004") == 0);
  CHECK(ns("0.0005") == 0);
  CHECK(ns("0.0015") == 2);
  CHECK(ns("0.0025") == 2);
  CHECK(ns("0.00250000000000000000001") == 3);
  CHECK(ns("0.0006") == 1);
  CHECK(ns("-0.0015") == -2);
  CHECK(ns("1.9999") == 2000);
  CHECK(ns("999999999999999.9995") == 1000000000000000000);
}

TEST_CASE("what is no JSON number is refused") {
  for (const char* text : {"",           "-",    ".5",       "1.",       "01",        "-01",
                           "1.5.5",      "1e",   "1e+",      "0x10",     "1 ",        " 1",
                           "+1",         "NaN",  "Infinity", "1234567:", "12345678/", "12/45678",
                           "1234567x.5", "1.5x", "\"1\"",    "null",     "1,5",       "1e5e5"})
    CHECK(nanoseconds_of_microseconds(text) == std::nullopt);
}

TEST_CASE("times that leave no room for a sum are refused") {
  CHECK(ns("4611686018427387.903") == kLargestTime);
  CHECK(nanoseconds_of_microseconds("4611686018427387.904") == std::nullopt);
  CHECK(ns("-4611686018427387.903") == -kLargestTime);
  CHECK(nanoseconds_of_microseconds("9223372036854775807") == std::nullopt);
  CHECK(nanoseconds_of_microseconds("1e16") == std::nullopt);
  CHECK(nanoseconds_of_microseconds("9999999999999999") == std::nullopt);
  CHECK(nanoseconds_of_microseconds("9999999999999999.999") == std::nullopt);
  CHECK(nanoseconds_of_microseconds("1e999999999999999999999") == std::nullopt);
  CHECK(nanoseconds_of_microseconds(std::string(5000, '9')) == std::nullopt);
}

TEST_CASE("random times survive being written as microseconds in any form") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    // Never 0, which with more zeros behind would be no JSON number.
    const auto value = static_cast<std::int64_t>(random() >> (random() % 62 + 2)) | 1;
    const std::string whole = std::to_string(value / 1000);
    std::string fraction = std::to_string(value % 1000 + 1000).substr(1);
    CHECK(ns(whole + "." + fraction) == value);
    CHECK(ns(whole + "." + fraction + "000000") == value);
    CHECK(ns("-" + whole + "." + fraction) == -value);
    CHECK(ns(std::to_string(value) + "e-3") == value);
    CHECK(ns(std::to_string(value) + "000e-6") == value);
    while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    CHECK(ns(fraction.empty() ? whole : whole + "." + fraction) == value);
  }
}
