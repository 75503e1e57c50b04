// A program that keeps the GPU's queue full: it launches about a thousand kernels ahead, as far as a
// driver lets a program get, and never waits for the last of them.
//
//   far_ahead BLOCKS    blocks of each kernel: how long one takes; runs until it is killed
//
// In what a profiler is given of such a program there is always something unfinished.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "far_ahead: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr int kGroups = 10;
constexpr int kKernelsOfGroup = 100;

__global__ void long_work(float* value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *value += 1.0f;
}

}  // namespace

int main(int argc, char** argv) {
  const auto blocks = static_cast<unsigned>(argc > 1 ? std::atol(argv[1]) : 10000);
  float* value = nullptr;
  REQUIRE(cudaMalloc(&value, sizeof *value));
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaEvent_t ends[kGroups] = {};
  for (cudaEvent_t& end : ends) {
    REQUIRE(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
  }
  for (int group = 0;; group = (group + 1) % kGroups) {
    REQUIRE(cudaEventSynchronize(ends[group]));  // launched ten groups ago
    for (int i = 0; i < kKernelsOfGroup; ++i) long_work<<<blocks, 64, 0, stream>>>(value);
    REQUIRE(cudaGetLastError());
    REQUIRE(cudaEventRecord(ends[group], stream));
  }
}
