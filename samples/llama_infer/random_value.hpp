// Random values as a function of seed and index: no state, so that every thread of the device can
// make its own element and gets what the host gets.
#pragma once

#include <cstdint>

#include "samples/llama_infer/host_device.hpp"

namespace llama_infer {

/// 64 well mixed bits (the output function of SplitMix64; Steele et al., 2014).
LLAMA_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t bits = (seed + 1) * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
  return bits ^ (bits >> 31);
}

/// Evenly spread in [-1, 1); exact, for it has 24 bits.
LLAMA_HOST_DEVICE inline float random_value(std::uint64_t seed, std::uint64_t index) {
  const auto bits = static_cast<std::int32_t>(random_bits(seed, index) >> 40);
  return static_cast<float>(bits - (1 << 23)) * (1.0f / (1 << 23));
}

}  // namespace llama_infer
