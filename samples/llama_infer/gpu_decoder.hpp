// The model on the GPU. This header knows no CUDA, so that its users compile without it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "samples/llama_infer/generation.hpp"
#include "samples/llama_infer/model_weights.hpp"

namespace llama_infer {

/// Why no GPU can be used, in the runtime's words; empty when there is one.
std::string gpu_problem();
/// The name of the GPU that is used.
std::string gpu_name();
/// Whether the CUDA libraries only stand in for a GPU: work takes its time but computes nothing.
bool gpu_is_simulated();

/// How much room a decoder makes, once and for all, and how it works.
struct GpuSettings {
  int batch;
  int prompt_length;
  int positions;   // a sequence: prompt and output
  bool use_graph;  // the decode step is captured once and replayed
};

/// All weights are made on the device from the seed, unless there are some to be copied.
std::unique_ptr<Decoder> make_gpu_decoder(const ModelShape& shape, const GpuSettings& settings,
                                          std::uint64_t seed, const std::vector<float>& weights);

}  // namespace llama_infer
