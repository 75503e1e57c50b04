// llama_infer: a small Llama-like decoder, on the GPU or on the host. See README.md.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "samples/llama_infer/generation.hpp"
#include "samples/llama_infer/gpu_decoder.hpp"
#include "samples/llama_infer/host_decoder.hpp"
#include "samples/llama_infer/options.hpp"
#include "samples/llama_infer/ranges.hpp"
#include "samples/llama_infer/weight_file.hpp"

namespace llama_infer {
namespace {

constexpr std::size_t kShownTokens = 16;

Generation run_on_host(const Options& options, const Prompts& prompts, std::vector<float> weights) {
  std::unique_ptr<Decoder> decoder;
  {
    const Range range("load");
    decoder =
        make_host_decoder(options.shape, options.batch, options.positions(), std::move(weights));
  }
  return generate(*decoder, prompts, options.output_length);
}

Generation run_on_gpu(const Options& options, const Prompts& prompts,
                      const std::vector<float>& weights) {
  std::unique_ptr<Decoder> decoder;
  {
    const Range range("load");
    const GpuSettings settings{options.batch, options.prompt_length, options.positions(),
                               options.graph};
    decoder = make_gpu_decoder(options.shape, settings, options.seed, weights);
  }
  return generate(*decoder, prompts, options.output_length);
}

void print_configuration(const Options& options) {
  const ModelShape& shape = options.shape;
  std::printf("model    %d layers, width %d, %d heads, %.1f million weights (%s)\n", shape.layers,
              shape.width, shape.heads, static_cast<double>(WeightLayout(shape).size) * 1e-6,
              options.weights.empty() ? "random" : options.weights.c_str());
  std::printf("task     batch %d, prompt %d, output %d, seed %llu\n", options.batch,
              options.prompt_length, options.output_length,
              static_cast<unsigned long long>(options.seed));
}

void print_device(const Options& options) {
  if (options.cpu) {
    std::printf("device   CPU, one thread\n");
    return;
  }
  std::printf("device   %s%s%s\n", gpu_name().c_str(), gpu_is_simulated() ? " (simulated)" : "",
              options.graph ? ", decode step as a CUDA graph" : "");
}

void print_speed(const char* phase, int tokens, double seconds) {
  std::printf("%-8s %d tokens in %.3f ms, %.0f tokens/s\n", phase, tokens, seconds * 1e3,
              tokens / std::max(seconds, 1e-9));
}

void print_generation(const Options& options, const Generation& generation) {
  print_speed("prefill", options.batch * options.prompt_length, generation.prefill_seconds);
  print_speed("decode", options.batch * (options.output_length - 1), generation.decode_seconds);
  if (!options.cpu && gpu_is_simulated()) {
    std::printf("         (how fast the simulation ran, which computes nothing; no GPU's speed)\n");
  }
  std::printf("tokens  ");
  const std::size_t shown = std::min(generation.steps.size(), kShownTokens);
  for (std::size_t i = 0; i < shown; ++i) std::printf(" %d", generation.steps[i][0]);
  std::printf("%s\n", shown < generation.steps.size() ? " ..." : "");
  std::printf("checksum %016llx\n", static_cast<unsigned long long>(generation.checksum()));
}

/// Prints how the two compare; whether they are equal.
bool compare(const Generation& gpu, const Generation& cpu) {
  std::size_t count = 0;
  for (std::size_t step = 0; step < cpu.steps.size(); ++step) {
    for (std::size_t i = 0; i < cpu.steps[step].size(); ++i, ++count) {
      if (gpu.steps[step][i] == cpu.steps[step][i]) continue;
      std::printf("verify: token %zu of sequence %zu differs: GPU %d, CPU %d\n", step, i,
                  gpu.steps[step][i], cpu.steps[step][i]);
      return false;
    }
  }
  std::printf("verify: %zu tokens equal\n", count);
  return true;
}

int run(Options options) {
  ranges_are_made = options.ranges;
  if (!options.cpu) {
    if (const std::string problem = gpu_problem(); !problem.empty()) {
      std::fprintf(stderr, "llama_infer: no CUDA device found (%s); --cpu works without one\n",
                   problem.c_str());
      return 1;
    }
  }
  std::vector<float> weights;  // stays empty when only the device makes them
  if (!options.weights.empty()) {
    StoredModel stored = read_weights(options.weights);
    options.shape = stored.shape;
    weights = std::move(stored.weights);
  } else if (options.cpu || !options.write_weights.empty()) {
    weights = random_weights(WeightLayout(options.shape), options.seed);
  }
  if (!options.write_weights.empty()) write_weights(options.write_weights, options.shape, weights);
  const Prompts prompts = random_prompts(options.batch, options.prompt_length, options.seed);

  print_configuration(options);
  print_device(options);
  if (options.cpu) {
    print_generation(options, run_on_host(options, prompts, std::move(weights)));
    return 0;
  }
  const Generation generation = run_on_gpu(options, prompts, weights);
  print_generation(options, generation);
  if (!options.verify) return 0;
  if (gpu_is_simulated()) {
    std::printf("verify: not computed (simulated GPU)\n");
    return 0;
  }
  if (weights.empty()) weights = random_weights(WeightLayout(options.shape), options.seed);
  return compare(generation, run_on_host(options, prompts, std::move(weights))) ? 0 : 1;
}

}  // namespace
}  // namespace llama_infer

int main(int argument_count, char** arguments) {
  using namespace llama_infer;
  try {
    const Options options = parse_options(argument_count, arguments);
    if (options.help) {
      std::fputs(kHelp, stdout);
      return 0;
    }
    return run(options);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "llama_infer: %s\n", error.what());
    return 2;
  } catch (const FileError& error) {
    std::fprintf(stderr, "llama_infer: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "llama_infer: the model does not fit into the host's memory\n");
    return 1;
  }
}
