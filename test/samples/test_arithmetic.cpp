// The very functions that the device computes with, compiled for the host, against libm in double
// precision. Their accuracy is what arithmetic.hpp states.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "samples/llama_infer/arithmetic.hpp"

using namespace llama_infer;

namespace {

/// The distance of a result from the truth in units of the truth's last place as a float.
double ulps(float result, double truth) {
  const float magnitude = std::fabs(static_cast<float>(truth));
  const double ulp =
      static_cast<double>(std::nextafter(magnitude, INFINITY)) - static_cast<double>(magnitude);
  return std::fabs(static_cast<double>(result) - truth) / ulp;
}

/// Calls look(x) for every 61st float from first to last, both of the same sign (61: a prime).
template <typename Look>
void for_floats(float first, float last, Look look) {
  std::uint32_t bits, end;
  std::memcpy(&bits, &first, sizeof bits);
  std::memcpy(&end, &last, sizeof end);
  REQUIRE(bits < end);
  for (; bits <= end; bits += 61) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    look(x);
  }
}

}  // namespace

TEST_CASE("exponential is within 1.1 ulp of libm") {
  double worst = 0;
  const auto look = [&worst](float x) {
    worst = std::max(worst, ulps(exponential(x), std::exp(static_cast<double>(x))));
  };
  for_floats(1e-10f, 88.0f, look);
  for_floats(-1e-10f, -87.0f, look);
  CAPTURE(worst);
  CHECK(worst <= 1.1);
  CHECK(worst > 0.5);  // else this compares a thing with itself
}

TEST_CASE("exponential has neither infinities nor holes at its ends") {
  CHECK(exponential(0.0f) == 1.0f);
  CHECK(exponential(-0.0f) == 1.0f);
  CHECK(exponential(-1e30f) == 0.0f);
  CHECK(exponential(std::nextafter(-87.0f, -INFINITY)) == 0.0f);
  CHECK(exponential(-87.0f) > 0.0f);
  CHECK(exponential(1e30f) == exponential(88.0f));
  CHECK(std::isfinite(exponential(1e30f)));
}

TEST_CASE("power_of_two is exact over all exponents") {
  for (int exponent = -126; exponent <= 127; ++exponent) {
    CHECK(power_of_two(exponent) == std::ldexp(1.0f, exponent));
  }
}

TEST_CASE("reciprocal_sqrt is within 1.5 ulp of libm") {
  double worst = 0;
  for_floats(1e-30f, 1e30f, [&worst](float x) {
    worst = std::max(worst, ulps(reciprocal_sqrt(x), 1.0 / std::sqrt(static_cast<double>(x))));
  });
  CAPTURE(worst);
  CHECK(worst <= 1.5);
}

TEST_CASE("sine_cosine is within 2^-23 of libm up to the largest angle") {
  double worst = 0;
  const auto look = [&worst](float x) {
    const SineCosine result = sine_cosine(x);
    const double angle = static_cast<double>(x);
    worst = std::max(worst, std::fabs(static_cast<double>(result.sine) - std::sin(angle)));
    worst = std::max(worst, std::fabs(static_cast<double>(result.cosine) - std::cos(angle)));
  };
  for_floats(1e-10f, kLargestAngle, look);
  for_floats(-1e-10f, -kLargestAngle, look);
  CAPTURE(worst * 0x1p23);
  CHECK(worst <= 0x1p-23);
}

TEST_CASE("sine_cosine near multiples of a quarter turn, where reduction is hardest") {
  for (int quarter = 0; quarter < 5000; ++quarter) {
    const auto angle = static_cast<float>(quarter * 1.5707963267948966);
    const SineCosine result = sine_cosine(angle);
    const double truth = static_cast<double>(angle);
    REQUIRE(std::fabs(static_cast<double>(result.sine) - std::sin(truth)) <= 0x1p-23);
    REQUIRE(std::fabs(static_cast<double>(result.cosine) - std::cos(truth)) <= 0x1p-23);
  }
}

TEST_CASE("rotation turns by position times 10000^(-2 pair / head size)") {
  for (const int head_size : {2, 16, 32, 128}) {
    for (int pair = 0; pair < head_size / 2; ++pair) {
      for (const int position : {0, 1, 2, 77, 1000, 4095}) {
        const double angle = position * std::pow(10000.0, -2.0 * pair / head_size);
        const SineCosine turn = rotation(position, pair, head_size);
        // The frequency is a float: its rounding counts `angle` times.
        const double allowed = 0x1p-23 + std::max(angle, 1.0) * 0x1p-21;
        CAPTURE(head_size, pair, position);
        CHECK(std::fabs(static_cast<double>(turn.sine) - std::sin(angle)) <= allowed);
        CHECK(std::fabs(static_cast<double>(turn.cosine) - std::cos(angle)) <= allowed);
      }
    }
  }
}

TEST_CASE("rotate_pair keeps the length and turns to the left") {
  float pair[2] = {3.0f, 4.0f};
  rotate_pair(pair, {1.0f, 0.0f});  // a quarter turn
  CHECK(pair[0] == -4.0f);
  CHECK(pair[1] == 3.0f);
}

TEST_CASE("gated is gate * sigmoid(gate) * up") {
  double worst = 0;
  for_floats(-1e-3f, -80.0f, [&worst](float gate) {
    const double x = static_cast<double>(gate);
    worst = std::max(worst, ulps(gated(gate, 1.0f), x / (1.0 + std::exp(-x))));
  });
  CAPTURE(worst);
  CHECK(worst <= 3.0);
  CHECK(gated(0.0f, 5.0f) == 0.0f);
  CHECK(gated(100.0f, 2.0f) == 200.0f);
}
