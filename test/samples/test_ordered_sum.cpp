// The host's sums against a model of the device's threads that is written from the threads' side:
// each lane's value after each exchange, as __shfl_xor_sync defines it.

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "samples/llama_infer/ordered_sum.hpp"
#include "samples/llama_infer/random_value.hpp"

using namespace llama_infer;

namespace {

using Warp = std::array<float, 32>;

/// value = value + shuffle_xor(value, distance) on all lanes, for 16, 8, 4, 2, 1.
Warp butterfly(Warp lanes) {
  for (unsigned distance = 16; distance > 0; distance /= 2) {
    const Warp before = lanes;
    for (unsigned lane = 0; lane < 32; ++lane) {
      lanes[lane] = before[lane] + before[lane ^ distance];
    }
  }
  return lanes;
}

std::vector<float> values(int count, std::uint64_t seed) {
  std::vector<float> made;
  for (int i = 0; i < count; ++i) {
    // Of very different sizes, so that nearly every other order gives other bits.
    const float value = random_value(seed, static_cast<std::uint64_t>(i));
    made.push_back(i % 3 == 0 ? value * 1000.0f : value);
  }
  return made;
}

float warp_dot_by_lanes(const std::vector<float>& a, const std::vector<float>& b) {
  Warp lanes{};
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (std::size_t i = lane; i < a.size(); i += 32) lanes[lane] = lanes[lane] + a[i] * b[i];
  }
  const Warp summed = butterfly(lanes);
  for (const float lane : summed) REQUIRE(lane == summed[0]);
  return summed[0];
}

float block_sum_by_threads(const std::vector<float>& terms) {
  float sum = 0.0f;
  for (unsigned warp = 0; warp < 8; ++warp) {
    Warp lanes{};
    for (unsigned lane = 0; lane < 32; ++lane) {
      for (std::size_t i = warp * 32 + lane; i < terms.size(); i += 256) {
        lanes[lane] = lanes[lane] + terms[i];
      }
    }
    sum = sum + butterfly(lanes)[0];
  }
  return sum;
}

}  // namespace

TEST_CASE("The host's dot product has the bits of a warp's") {
  for (const int count : {1, 2, 31, 32, 33, 64, 100, 256, 704, 1000}) {
    CAPTURE(count);
    const std::vector<float> a = values(count, 1), b = values(count, 2);
    CHECK(warp_dot_on_host(a.data(), b.data(), count) == warp_dot_by_lanes(a, b));
  }
}

TEST_CASE("The host's block sum has the bits of a block's") {
  for (const int count : {1, 31, 32, 255, 256, 257, 1000, 4096}) {
    CAPTURE(count);
    const std::vector<float> terms = values(count, 3);
    const float sum =
        block_sum_on_host(count, [&terms](int i) { return terms[static_cast<std::size_t>(i)]; });
    CHECK(sum == block_sum_by_threads(terms));
  }
}

TEST_CASE("The order of a sum shows in its bits, so that these tests can fail") {
  const std::vector<float> terms = values(1000, 3), ones(1000, 1.0f);
  float in_sequence = 0.0f;
  for (const float term : terms) in_sequence += term;
  CHECK(in_sequence != warp_dot_on_host(terms.data(), ones.data(), 1000));
}

TEST_CASE("Random values are those of the seed and spread evenly") {
  double sum = 0.0;
  for (std::uint64_t i = 0; i < 100000; ++i) {
    const float value = random_value(7, i);
    REQUIRE(value >= -1.0f);
    REQUIRE(value < 1.0f);
    sum += static_cast<double>(value);
  }
  CHECK(std::abs(sum / 100000) < 0.01);  // five standard deviations
  CHECK(random_value(7, 0) != random_value(8, 0));
  CHECK(random_value(7, 0) != random_value(7, 1));
}
