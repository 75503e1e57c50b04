// The model's operations on the device. Each function enqueues one kernel on a stream and ends the
// program with a message when that fails; all pointers are device memory.
//
// Activations are matrices with one row for each token: those of the first sequence, then those of
// the next. Caches are [sequence][position][width].
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "samples/llama_infer/model_weights.hpp"

namespace llama_infer {

/// The tokens that one pass takes in.
struct Pass {
  int sequences;
  int tokens;           // a sequence: the prompt's length in prefill, 1 in decode
  const int* position;  // of each sequence's first token; device memory, for it changes each step
  int capacity;         // positions in the caches
  cudaStream_t stream;

  int rows() const { return sequences * tokens; }
};

/// The keys and values that one layer remembers.
struct LayerCache {
  float* keys;
  float* values;
};

void initialize_tensor(float* weights, const Tensor& tensor, std::uint64_t seed,
                       cudaStream_t stream);
/// hidden: rows x width, the rows of the table that belong to the tokens.
void embed(const Pass& pass, const int* tokens, const float* table, float* hidden, int width);
/// Normalises `rows` rows that are row_stride elements apart; the results lie side by side.
void rms_norm(const float* in, int rows, int row_stride, const float* weight, float* out, int width,
              cudaStream_t stream);
/// out (rows x outputs) = in (rows x inputs) times the transposed weights (outputs x inputs); added
/// to what out holds when `accumulate`. For few rows: a warp for each element.
void gemv(const float* in, int rows, const float* weights, float* out, int outputs, int inputs,
          bool accumulate, cudaStream_t stream);
/// The same for many rows, in tiles. inputs and outputs are multiples of 16. It adds in another
/// order than gemv.
void gemm(const float* in, int rows, const float* weights, float* out, int outputs, int inputs,
          bool accumulate, cudaStream_t stream);
/// Rotary embedding of the queries and keys in qkv (rows x 3 width), in place.
void rotate(const Pass& pass, float* qkv, const ModelShape& shape);
/// Copies the keys and values in qkv to their positions in the caches.
void remember(const Pass& pass, const float* qkv, LayerCache cache, int width);
/// Causal attention of the queries in qkv over the caches. out: rows x width.
void attend(const Pass& pass, const float* qkv, LayerCache cache, float* out,
            const ModelShape& shape);
/// The gated unit on gate_up (rows x 2 hidden). out: rows x hidden.
void apply_gate(const float* gate_up, int rows, float* out, int hidden, cudaStream_t stream);
/// The token with the largest logit in each row; of equal ones the first.
void choose_tokens(const float* logits, int rows, int* tokens, cudaStream_t stream);
void advance(int* position, int tokens, cudaStream_t stream);

}  // namespace llama_infer
