// Pseudo-random numbers that are the same with every standard library, unlike <random>'s
// distributions and std::shuffle.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace gprofml::synth {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [low, high]; low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto count = static_cast<std::uint64_t>(high - low) + 1;
    return low + static_cast<std::int64_t>(count == 0 ? engine_() : engine_() % count);
  }

  /// True in `percent` of cases.
  bool chance(int percent) { return between(1, 100) <= percent; }

  /// Uniform index of a container of `size` elements; size > 0.
  std::size_t index(std::size_t size) {
    return static_cast<std::size_t>(between(0, static_cast<std::int64_t>(size) - 1));
  }

  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[index(left)]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace gprofml::synth
