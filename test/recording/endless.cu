// Programs that run until they are killed.
//
//   endless far_ahead BLOCKS   keeps the GPU's queue full: launches about a thousand kernels ahead,
//                              as far as a driver lets a program get, and never waits for the last
//                              of them. In what a profiler is given something is always unfinished.
//                              BLOCKS says how long a kernel takes.
//   endless paced              does a little every 10 ms: no buffer of a profiler ever gets full
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "endless: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr int kGroups = 10;
constexpr int kKernelsOfGroup = 100;

__global__ void work(float* value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *value += 1.0f;
}

[[noreturn]] void far_ahead(unsigned blocks, float* value, cudaStream_t stream) {
  cudaEvent_t ends[kGroups] = {};
  for (cudaEvent_t& end : ends) {
    REQUIRE(cudaEventCreateWithFlags(&end, cudaEventDisableTiming));
  }
  for (int group = 0;; group = (group + 1) % kGroups) {
    REQUIRE(cudaEventSynchronize(ends[group]));  // recorded ten groups ago
    for (int i = 0; i < kKernelsOfGroup; ++i) work<<<blocks, 64, 0, stream>>>(value);
    REQUIRE(cudaGetLastError());
    REQUIRE(cudaEventRecord(ends[group], stream));
  }
}

[[noreturn]] void paced(float* value, cudaStream_t stream) {
  for (;;) {
    nvtxRangePushA("step");
    work<<<16, 64, 0, stream>>>(value);
    REQUIRE(cudaMemsetAsync(value, 0, sizeof *value, stream));
    REQUIRE(cudaMemcpyAsync(value, value + 1, sizeof *value, cudaMemcpyDeviceToDevice, stream));
    REQUIRE(cudaStreamSynchronize(stream));
    nvtxRangePop();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace

int main(int argc, char** argv) {
  float* value = nullptr;
  REQUIRE(cudaMalloc(&value, 2 * sizeof *value));
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  if (argc > 2 && std::strcmp(argv[1], "far_ahead") == 0) {
    far_ahead(static_cast<unsigned>(std::atol(argv[2])), value, stream);
  }
  if (argc > 1 && std::strcmp(argv[1], "paced") == 0) paced(value, stream);
  std::fprintf(stderr, "usage: endless far_ahead BLOCKS | endless paced\n");
  return 2;
}
