#include "samples/llama_infer/generation.hpp"

#include <chrono>

#include "samples/llama_infer/model_weights.hpp"
#include "samples/llama_infer/random_value.hpp"
#include "samples/llama_infer/ranges.hpp"

namespace llama_infer {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Prompts random_prompts(int batch, int length, std::uint64_t seed) {
  Prompts prompts{batch, length, {}};
  const std::uint64_t count =
      static_cast<std::uint64_t>(batch) * static_cast<std::uint64_t>(length);
  for (std::uint64_t i = 0; i < count; ++i) {
    // Another seed than the weights', whose first random value decides the first weight.
    prompts.tokens.push_back(static_cast<int>(random_bits(~seed, i) % kVocabulary));
  }
  return prompts;
}

std::uint64_t Generation::checksum() const {
  std::uint64_t sum = 0;
  for (const std::vector<int>& step : steps) {
    for (const int token : step) sum = random_bits(sum, static_cast<std::uint64_t>(token));
  }
  return sum;
}

Generation generate(Decoder& decoder, const Prompts& prompts, int output_length) {
  Generation generation;
  Clock::time_point start = Clock::now();
  {
    const Range range("prefill");
    generation.steps.push_back(decoder.prefill(prompts));
  }
  generation.prefill_seconds = seconds_since(start);
  start = Clock::now();
  for (int step = 1; step < output_length; ++step) {
    const Range range("decode_step");
    generation.steps.push_back(decoder.decode_step());
  }
  generation.decode_seconds = seconds_since(start);
  return generation;
}

}  // namespace llama_infer
