// Sums in a fixed order, once for the device's threads and once, in the same order, for the host.
//
// Floating-point addition is not associative, so that both sides must add in the same order. It is
// the order that suits a GPU: each thread adds every kLanes-th (or kBlockThreads-th) term, then a
// tree adds what the threads have. Two operands swapped give the same bits, so that all lanes of a
// butterfly hold the sum that the host's tree has in its first element.
#pragma once

#include "samples/llama_infer/host_device.hpp"

namespace llama_infer {

constexpr int kLanes = 32;          // threads of a warp
constexpr int kBlockThreads = 256;  // threads of the blocks that sum together
constexpr int kBlockWarps = kBlockThreads / kLanes;

/// The tree over one warp's values; destroys them.
inline float sum_of_lanes(float* lanes) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    for (int i = 0; i < distance; ++i) lanes[i] = lanes[i] + lanes[i + distance];
  }
  return lanes[0];
}

/// Sum of term(0) ... term(count - 1) as one block adds it.
template <typename Term>
float block_sum_on_host(int count, Term term) {
  float threads[kBlockThreads] = {};
  for (int first = 0; first < count; first += kBlockThreads) {
    const int width = count - first < kBlockThreads ? count - first : kBlockThreads;
    for (int i = 0; i < width; ++i) threads[i] = threads[i] + term(first + i);
  }
  float sum = 0.0f;
  for (int first = 0; first < kBlockThreads; first += kLanes) {
    sum = sum + sum_of_lanes(threads + first);
  }
  return sum;
}

/// Dot product as one warp adds it.
inline float warp_dot_on_host(const float* a, const float* b, int count) {
  float lanes[kLanes] = {};
  int first = 0;
  for (; first + kLanes <= count; first += kLanes) {
    for (int i = 0; i < kLanes; ++i) lanes[i] = lanes[i] + a[first + i] * b[first + i];
  }
  for (int i = 0; first + i < count; ++i) lanes[i] = lanes[i] + a[first + i] * b[first + i];
  return sum_of_lanes(lanes);
}

#ifdef __CUDACC__

/// The sum of a value over the warp's lanes; all lanes get it.
__device__ inline float warp_sum(float value) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    value = value + __shfl_xor_sync(0xffffffffu, value, distance);
  }
  return value;
}

/// The sum of a value over a block of kBlockThreads threads; all threads get it and must call it.
__device__ inline float block_sum(float value) {
  __shared__ float warps[kBlockWarps];
  value = warp_sum(value);
  __syncthreads();  // the shared memory may still be read from an earlier call
  if (threadIdx.x % kLanes == 0) warps[threadIdx.x / kLanes] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < kBlockWarps; ++warp) sum = sum + warps[warp];
  return sum;
}

/// Dot product by the lanes of one warp; all lanes get it.
__device__ inline float warp_dot(const float* a, const float* b, int count) {
  float sum = 0.0f;
  for (int i = static_cast<int>(threadIdx.x % kLanes); i < count; i += kLanes) {
    sum = sum + a[i] * b[i];
  }
  return warp_sum(sum);
}

#endif

}  // namespace llama_infer
