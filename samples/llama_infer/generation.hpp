// What is asked of a decoder and what it answers, the same for device and host.
#pragma once

#include <cstdint>
#include <vector>

namespace llama_infer {

/// Several sequences that are continued side by side.
struct Prompts {
  int batch;
  int length;
  std::vector<int> tokens;  // batch * length, one sequence after the other
};

/// Prompts of random tokens that belong to a seed.
Prompts random_prompts(int batch, int length, std::uint64_t seed);

/// The tokens that followed the prompts, and how long they took.
struct Generation {
  std::vector<std::vector<int>> steps;  // one token a sequence for each step
  double prefill_seconds = 0.0;
  double decode_seconds = 0.0;

  /// A number that differs when any token differs, but for an accident of 1 in 2^64.
  std::uint64_t checksum() const;
};

/// A model that keeps the state of its sequences.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Takes in all prompts and returns the first token of each continuation.
  virtual std::vector<int> prefill(const Prompts& prompts) = 0;
  /// Takes in the tokens returned last and returns the next ones.
  virtual std::vector<int> decode_step() = 0;
};

/// Prefill, which gives the first token, then output_length - 1 decode steps; always so many, for
/// there is no token that ends a sequence.
Generation generate(Decoder& decoder, const Prompts& prompts, int output_length);

}  // namespace llama_infer
