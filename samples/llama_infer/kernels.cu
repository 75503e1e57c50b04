#include "samples/llama_infer/kernels.hpp"

#include "samples/llama_infer/arithmetic.hpp"
#include "samples/llama_infer/cuda_check.hpp"
#include "samples/llama_infer/ordered_sum.hpp"
#include "samples/llama_infer/random_value.hpp"

namespace llama_infer {

// Not in an anonymous namespace: a profiler shows the kernels' names, which would hold a hash then.
namespace kernels {

constexpr int kTile = 16;  // of gemm, in each direction

__device__ int lane() {
  return static_cast<int>(threadIdx.x) % kLanes;
}
__device__ int warp() {
  return static_cast<int>(threadIdx.x) / kLanes;
}

/// Element index of this thread in a one-dimensional grid.
__device__ std::size_t element() {
  return static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// Blocks of kBlockThreads that cover so many elements.
unsigned blocks_for(std::size_t elements) {
  return static_cast<unsigned>((elements + kBlockThreads - 1) / kBlockThreads);
}

std::size_t product(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

__global__ void initialize_weights_kernel(float* weights, Tensor tensor, std::uint64_t seed) {
  const std::size_t i = element();
  if (i >= tensor.size()) return;
  weights[tensor.offset + i] =
      tensor.center + tensor.spread * random_value(seed, tensor.offset + i);
}

__global__ void embedding_kernel(const int* tokens, const float* table, float* hidden, int width) {
  const std::size_t row = blockIdx.x;
  const float* source = table + static_cast<std::size_t>(tokens[row]) * width;
  for (int i = threadIdx.x; i < width; i += kBlockThreads) hidden[row * width + i] = source[i];
}

__global__ void rms_norm_kernel(const float* in, int row_stride, const float* weight, float* out,
                                int width) {
  in += static_cast<std::size_t>(blockIdx.x) * row_stride;
  out += static_cast<std::size_t>(blockIdx.x) * width;
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += kBlockThreads) squares = squares + in[i] * in[i];
  const float scale = norm_scale(block_sum(squares), width);
  for (int i = threadIdx.x; i < width; i += kBlockThreads) out[i] = in[i] * scale * weight[i];
}

/// One warp for each element of the result.
__global__ void gemv_kernel(const float* in, const float* weights, float* out, int outputs,
                            int inputs, bool accumulate) {
  const int column = static_cast<int>(blockIdx.x) * kBlockWarps + warp();
  if (column >= outputs) return;
  const std::size_t row = blockIdx.y;
  const float dot =
      warp_dot(weights + static_cast<std::size_t>(column) * inputs, in + row * inputs, inputs);
  if (lane() != 0) return;
  float& result = out[row * outputs + column];
  result = accumulate ? result + dot : dot;
}

/// One thread for each element of the result; it adds the products one after the other.
__global__ void gemm_kernel(const float* in, int rows, const float* weights, float* out,
                            int outputs, int inputs, bool accumulate) {
  __shared__ float in_tile[kTile][kTile];
  __shared__ float weight_tile[kTile][kTile + 1];  // one more: no bank conflicts down a column
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = static_cast<int>(blockIdx.y) * kTile + y;
  const int first_column = static_cast<int>(blockIdx.x) * kTile;
  float sum = 0.0f;
  for (int first = 0; first < inputs; first += kTile) {
    in_tile[y][x] = row < rows ? in[static_cast<std::size_t>(row) * inputs + first + x] : 0.0f;
    weight_tile[y][x] = weights[static_cast<std::size_t>(first_column + y) * inputs + first + x];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum = sum + weight_tile[x][i] * in_tile[y][i];
    __syncthreads();
  }
  if (row >= rows) return;
  float& result = out[static_cast<std::size_t>(row) * outputs + first_column + x];
  result = accumulate ? result + sum : sum;
}

/// A block for each row; a thread for each pair of elements of the query or the key.
__global__ void rope_kernel(float* qkv, Pass pass, ModelShape shape) {
  const int row = blockIdx.x;
  const int position = *pass.position + row % pass.tokens;
  float* queries_and_keys = qkv + static_cast<std::size_t>(row) * 3 * shape.width;
  for (int i = threadIdx.x; i < shape.width; i += kBlockThreads) {
    const int pair = i % (shape.head_size() / 2);
    const SineCosine turn = rotation(position, pair, shape.head_size());
    rotate_pair(queries_and_keys + 2 * i, turn);
  }
}

__global__ void kv_cache_kernel(const float* qkv, Pass pass, LayerCache cache, int width) {
  const int row = blockIdx.x;
  const int position = *pass.position + row % pass.tokens;
  const float* keys = qkv + static_cast<std::size_t>(row) * 3 * width + width;
  const float* values = keys + width;
  const std::size_t place =
      (static_cast<std::size_t>(row / pass.tokens) * pass.capacity + position) * width;
  for (int i = threadIdx.x; i < width; i += kBlockThreads) {
    cache.keys[place + i] = keys[i];
    cache.values[place + i] = values[i];
  }
}

/// The largest value over a block; all threads get it. Its order does not matter.
__device__ float block_maximum(float value) {
  __shared__ float warps[kBlockWarps];
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, distance));
  }
  if (lane() == 0) warps[warp()] = value;
  __syncthreads();
  for (int i = 0; i < kBlockWarps; ++i) value = fmaxf(value, warps[i]);
  return value;
}

/// A block for each row and head. Scores: a warp for each position; values: a thread for each
/// element of the head.
__global__ void attention_kernel(const float* qkv, Pass pass, LayerCache cache, float* out,
                                 ModelShape shape) {
  extern __shared__ float scores[];  // one for each position
  const std::size_t row = blockIdx.x;
  const int width = shape.width, head_size = shape.head_size();
  const int head_offset = static_cast<int>(blockIdx.y) * head_size;
  const int positions = *pass.position + static_cast<int>(blockIdx.x) % pass.tokens + 1;
  const std::size_t cached = (row / pass.tokens) * pass.capacity * width + head_offset;
  const float* query = qkv + row * 3 * width + head_offset;
  const float scale = reciprocal_sqrt(static_cast<float>(head_size));

  for (int i = warp(); i < positions; i += kBlockWarps) {
    const float* key = cache.keys + cached + static_cast<std::size_t>(i) * width;
    const float score = warp_dot(query, key, head_size) * scale;
    if (lane() == 0) scores[i] = score;
  }
  __syncthreads();
  float largest = scores[0];
  for (int i = threadIdx.x; i < positions; i += kBlockThreads) largest = fmaxf(largest, scores[i]);
  largest = block_maximum(largest);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < positions; i += kBlockThreads) {
    scores[i] = exponential(scores[i] - largest);
    sum = sum + scores[i];
  }
  sum = block_sum(sum);
  for (int element = threadIdx.x; element < head_size; element += kBlockThreads) {
    float value = 0.0f;
    for (int i = 0; i < positions; ++i) {
      value =
          value + scores[i] * cache.values[cached + static_cast<std::size_t>(i) * width + element];
    }
    out[row * width + head_offset + element] = value / sum;
  }
}

__global__ void swiglu_kernel(const float* gate_up, std::size_t size, float* out, int hidden) {
  const std::size_t i = element();
  if (i >= size) return;
  const float* row = gate_up + i / hidden * 2 * hidden;
  const std::size_t column = i % hidden;
  out[i] = gated(row[column], row[hidden + column]);
}

/// Whether a candidate beats another: a larger logit, or the same one and a smaller token.
__device__ bool beats(float logit, int token, float other_logit, int other_token) {
  return logit > other_logit || (logit == other_logit && token < other_token);
}

__global__ void argmax_kernel(const float* logits, int* tokens) {
  __shared__ float best_logits[kBlockThreads];
  __shared__ int best_tokens[kBlockThreads];
  const int thread = threadIdx.x;
  logits += static_cast<std::size_t>(blockIdx.x) * kVocabulary;
  static_assert(kVocabulary >= kBlockThreads, "each thread has a first candidate");
  int best = thread;
  for (int i = thread; i < kVocabulary; i += kBlockThreads) {
    if (logits[i] > logits[best]) best = i;
  }
  best_logits[thread] = logits[best];
  best_tokens[thread] = best;
  for (int distance = kBlockThreads / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (thread < distance && beats(best_logits[thread + distance], best_tokens[thread + distance],
                                   best_logits[thread], best_tokens[thread])) {
      best_logits[thread] = best_logits[thread + distance];
      best_tokens[thread] = best_tokens[thread + distance];
    }
  }
  if (thread == 0) tokens[blockIdx.x] = best_tokens[0];
}

__global__ void advance_position_kernel(int* position, int tokens) {
  *position += tokens;
}

}  // namespace kernels

using namespace kernels;

void initialize_tensor(float* weights, const Tensor& tensor, std::uint64_t seed,
                       cudaStream_t stream) {
  initialize_weights_kernel<<<blocks_for(tensor.size()), kBlockThreads, 0, stream>>>(weights,
                                                                                     tensor, seed);
  LLAMA_CHECK(cudaGetLastError());
}

void embed(const Pass& pass, const int* tokens, const float* table, float* hidden, int width) {
  embedding_kernel<<<pass.rows(), kBlockThreads, 0, pass.stream>>>(tokens, table, hidden, width);
  LLAMA_CHECK(cudaGetLastError());
}

void rms_norm(const float* in, int rows, int row_stride, const float* weight, float* out, int width,
              cudaStream_t stream) {
  rms_norm_kernel<<<rows, kBlockThreads, 0, stream>>>(in, row_stride, weight, out, width);
  LLAMA_CHECK(cudaGetLastError());
}

void gemv(const float* in, int rows, const float* weights, float* out, int outputs, int inputs,
          bool accumulate, cudaStream_t stream) {
  const dim3 grid((outputs + kBlockWarps - 1) / kBlockWarps, rows);
  gemv_kernel<<<grid, kBlockThreads, 0, stream>>>(in, weights, out, outputs, inputs, accumulate);
  LLAMA_CHECK(cudaGetLastError());
}

void gemm(const float* in, int rows, const float* weights, float* out, int outputs, int inputs,
          bool accumulate, cudaStream_t stream) {
  const dim3 grid(outputs / kTile, (rows + kTile - 1) / kTile);
  gemm_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(in, rows, weights, out, outputs, inputs,
                                                       accumulate);
  LLAMA_CHECK(cudaGetLastError());
}

void rotate(const Pass& pass, float* qkv, const ModelShape& shape) {
  rope_kernel<<<pass.rows(), kBlockThreads, 0, pass.stream>>>(qkv, pass, shape);
  LLAMA_CHECK(cudaGetLastError());
}

void remember(const Pass& pass, const float* qkv, LayerCache cache, int width) {
  kv_cache_kernel<<<pass.rows(), kBlockThreads, 0, pass.stream>>>(qkv, pass, cache, width);
  LLAMA_CHECK(cudaGetLastError());
}

void attend(const Pass& pass, const float* qkv, LayerCache cache, float* out,
            const ModelShape& shape) {
  // For all positions that there may ever be, so that a graph of this launch fits every step.
  const std::size_t shared_bytes = static_cast<std::size_t>(pass.capacity) * sizeof(float);
  attention_kernel<<<dim3(pass.rows(), shape.heads), kBlockThreads, shared_bytes, pass.stream>>>(
      qkv, pass, cache, out, shape);
  LLAMA_CHECK(cudaGetLastError());
}

void apply_gate(const float* gate_up, int rows, float* out, int hidden, cudaStream_t stream) {
  const std::size_t size = product(rows, hidden);
  swiglu_kernel<<<blocks_for(size), kBlockThreads, 0, stream>>>(gate_up, size, out, hidden);
  LLAMA_CHECK(cudaGetLastError());
}

void choose_tokens(const float* logits, int rows, int* tokens, cudaStream_t stream) {
  argmax_kernel<<<rows, kBlockThreads, 0, stream>>>(logits, tokens);
  LLAMA_CHECK(cudaGetLastError());
}

void advance(int* position, int tokens, cudaStream_t stream) {
  advance_position_kernel<<<1, 1, 0, stream>>>(position, tokens);
  LLAMA_CHECK(cudaGetLastError());
}

}  // namespace llama_infer
