// The model's mathematics for single elements, the same source for host and device.
//
// The tokens of both sides are to be equal, and greedy sampling turns a difference in the last bit
// into another token sooner or later. So each result here is fixed by IEEE 754 alone:
//   - Only +, -, *, /, square root, floor, comparisons and conversions, which round in one way on
//     both sides (nvcc's defaults, -prec-div=true -prec-sqrt=true -ftz=false, say the same).
//   - No multiplication and addition contracted into one rounding: -fmad=false for the device and
//     -ffp-contract=off for the host, where a compiler is otherwise free to choose.
//   - exp, sin and cos are ours: those of libm and of CUDA differ in their last bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "samples/llama_infer/host_device.hpp"

namespace llama_infer {

/// 2^exponent for -126 <= exponent <= 127, put together from its bits.
LLAMA_HOST_DEVICE inline float power_of_two(int exponent) {
  const std::uint32_t bits = static_cast<std::uint32_t>(exponent + 127) << 23;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// e^x within 1.1 ulp for -87 <= x <= 88. Below it is 0 and above e^88, so that no infinity
/// appears.
LLAMA_HOST_DEVICE inline float exponential(float x) {
  if (x < -87.0f) return 0.0f;
  if (x > 88.0f) x = 88.0f;
  // x = n ln 2 + r with |r| <= ln 2 / 2. ln 2 in two parts: n times the first one is exact.
  const float n = floorf(x * 1.44269504f + 0.5f);
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  // Taylor's series; the first term left out, r^8 / 8!, is below 2^-27.
  float series = 1.0f / 5040.0f;
  series = series * r + 1.0f / 720.0f;
  series = series * r + 1.0f / 120.0f;
  series = series * r + 1.0f / 24.0f;
  series = series * r + 1.0f / 6.0f;
  series = series * r + 0.5f;
  const float result = 1.0f + (r + r * r * series);
  // 2^n in two factors, for n may be 127 and its successor is no float.
  const int exponent = static_cast<int>(n);
  return result * power_of_two(exponent - exponent / 2) * power_of_two(exponent / 2);
}

/// 1 / sqrt(x) for x > 0, within 1.5 ulp: two roundings, each of them exact to half an ulp.
LLAMA_HOST_DEVICE inline float reciprocal_sqrt(float x) {
  return 1.0f / sqrtf(x);
}

/// What RMSNorm multiplies a row with (Zhang and Sennrich, 2019).
LLAMA_HOST_DEVICE inline float norm_scale(float sum_of_squares, int width) {
  return reciprocal_sqrt(sum_of_squares / static_cast<float>(width) + 1e-5f);
}

/// The sine and cosine of one angle.
struct SineCosine {
  float sine;
  float cosine;
};

/// Both within 2^-23 absolute for |angle| <= kLargestAngle.
constexpr float kLargestAngle = 8192.0f;
LLAMA_HOST_DEVICE inline SineCosine sine_cosine(float angle) {
  // angle = n pi/2 + r with |r| <= pi/4. pi/2 in four parts (Cody and Waite, 1980): the first three
  // have eleven bits, so that n times each is exact for n < 2^13.
  const float n = floorf(angle * 0.636619772f + 0.5f);
  float r = angle - n * 1.5703125f;
  r = r - n * 4.837512969970703125e-4f;
  r = r - n * 7.54953362047672271728515625e-8f;
  r = r - n * 2.56334415159451878818894e-12f;
  const float square = r * r;
  float sine_series = 1.0f / 362880.0f;
  sine_series = sine_series * square - 1.0f / 5040.0f;
  sine_series = sine_series * square + 1.0f / 120.0f;
  sine_series = sine_series * square - 1.0f / 6.0f;
  const float sine = r + r * square * sine_series;
  float cosine_series = -1.0f / 3628800.0f;
  cosine_series = cosine_series * square + 1.0f / 40320.0f;
  cosine_series = cosine_series * square - 1.0f / 720.0f;
  cosine_series = cosine_series * square + 1.0f / 24.0f;
  const float cosine = (1.0f - 0.5f * square) + square * square * cosine_series;
  switch (static_cast<int>(n) & 3) {
    case 0:
      return {sine, cosine};
    case 1:
      return {cosine, -sine};
    case 2:
      return {-sine, -cosine};
    default:
      return {-cosine, sine};
  }
}

/// By how much rotary position embedding turns the pair'th pair of a head's elements at a position
/// (Su et al., RoFormer, 2021): position times 10000^(-2 pair / head_size).
LLAMA_HOST_DEVICE inline SineCosine rotation(int position, int pair, int head_size) {
  const float exponent = static_cast<float>(2 * pair) / static_cast<float>(head_size);
  const float frequency = exponential(-9.21034037f * exponent);  // ln 10000
  return sine_cosine(static_cast<float>(position) * frequency);
}

/// Turns two elements that lie side by side.
LLAMA_HOST_DEVICE inline void rotate_pair(float* pair, SineCosine turn) {
  const float x = pair[0], y = pair[1];
  pair[0] = x * turn.cosine - y * turn.sine;
  pair[1] = x * turn.sine + y * turn.cosine;
}

/// The gated unit of the MLP: gate * sigmoid(gate) * up (Shazeer, GLU Variants, 2020).
LLAMA_HOST_DEVICE inline float gated(float gate, float up) {
  return gate / (1.0f + exponential(-gate)) * up;
}

}  // namespace llama_infer
