// The model on the host, one thread: what the GPU's tokens are checked against.
#pragma once

#include <memory>
#include <vector>

#include "samples/llama_infer/generation.hpp"
#include "samples/llama_infer/model_weights.hpp"

namespace llama_infer {

/// Makes room for `positions` tokens a sequence, prompt and output. Calls no CUDA function. Its
/// sums have the order of kernels.cu (see ordered_sum.hpp), so that the tokens are the GPU's.
std::unique_ptr<Decoder> make_host_decoder(const ModelShape& shape, int batch, int positions,
                                           std::vector<float> weights);

}  // namespace llama_infer
