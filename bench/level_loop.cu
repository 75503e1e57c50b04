// What bench/level_cost records: steps of 100 launches as a model makes them.
//
//   level_loop launches STEPS   each step 100 kernels of 8 names on two streams in 11 ranges, one
//                               stream-ordered allocation and its free, one copy, one wait
//   level_loop replays STEPS    the same 100 kernels captured once; each step one range, one launch
//                               of the graph, one wait
//
// The last line is "steps=S loop_cpu_ns=T": T is CPU time of this thread, so that neither waiting
// nor other threads count.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

constexpr long kWarmSteps = 20;
constexpr int kLayers = 10;
constexpr int kKernels = 10;  // of a layer

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "level_loop: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

template <int kind>
__global__ void work(float* value) {
  if (threadIdx.x == 0 && blockIdx.x == 0) *value += static_cast<float>(kind);
}

long long thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

void launch(int i, float* value, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(16 + 16 * (i % 3));
  switch (i % 8) {
    case 0: work<0><<<blocks, 128, 0, stream>>>(value); break;
    case 1: work<1><<<blocks, 128, 0, stream>>>(value); break;
    case 2: work<2><<<blocks, 128, 0, stream>>>(value); break;
    case 3: work<3><<<blocks, 128, 0, stream>>>(value); break;
    case 4: work<4><<<blocks, 128, 0, stream>>>(value); break;
    case 5: work<5><<<blocks, 128, 0, stream>>>(value); break;
    case 6: work<6><<<blocks, 128, 0, stream>>>(value); break;
    default: work<7><<<blocks, 128, 0, stream>>>(value); break;
  }
}

/// The kernels of a step; `second` may be `stream` itself.
void layers(float* value, cudaStream_t stream, cudaStream_t second) {
  static const char* const names[kLayers] = {"layer_0", "layer_1", "layer_2", "layer_3", "layer_4",
                                             "layer_5", "layer_6", "layer_7", "layer_8", "layer_9"};
  for (int layer = 0; layer < kLayers; ++layer) {
    nvtxRangePushA(names[layer]);
    for (int i = 0; i < kKernels; ++i) launch(layer + i, value, i % 2 == 0 ? stream : second);
    nvtxRangePop();
  }
}

void launch_step(float* value, cudaStream_t stream, cudaStream_t second) {
  constexpr std::size_t kBytes = 1 << 16;
  static float host[16];
  void* scratch = nullptr;
  nvtxRangePushA("step");
  REQUIRE(cudaMallocAsync(&scratch, kBytes, stream));
  layers(value, stream, second);
  REQUIRE(cudaMemcpyAsync(host, value, sizeof host, cudaMemcpyDeviceToHost, stream));
  REQUIRE(cudaFreeAsync(scratch, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  nvtxRangePop();
}

void replay_step(cudaGraphExec_t executable, cudaStream_t stream) {
  nvtxRangePushA("step");
  REQUIRE(cudaGraphLaunch(executable, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  nvtxRangePop();
}

template <typename Step>
long long loop_cpu_ns(long steps, Step step) {
  for (long i = 0; i < kWarmSteps; ++i) step();
  const long long begin_ns = thread_cpu_ns();
  for (long i = 0; i < steps; ++i) step();
  return thread_cpu_ns() - begin_ns;
}

}  // namespace

int main(int argc, char** argv) {
  const bool launches = argc == 3 && std::strcmp(argv[1], "launches") == 0;
  if (!launches && !(argc == 3 && std::strcmp(argv[1], "replays") == 0)) {
    std::fprintf(stderr, "usage: level_loop launches STEPS | level_loop replays STEPS\n");
    return 2;
  }
  const long steps = std::atol(argv[2]);
  float* value = nullptr;
  cudaStream_t stream, second;
  REQUIRE(cudaMalloc(&value, 16 * sizeof *value));
  REQUIRE(cudaStreamCreate(&stream));
  REQUIRE(cudaStreamCreate(&second));

  long long cpu_ns = 0;
  if (launches) {
    cpu_ns = loop_cpu_ns(steps, [&] { launch_step(value, stream, second); });
  } else {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    layers(value, stream, stream);
    REQUIRE(cudaStreamEndCapture(stream, &graph));
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
    cpu_ns = loop_cpu_ns(steps, [&] { replay_step(executable, stream); });
  }
  REQUIRE(cudaDeviceSynchronize());
  std::printf("steps=%ld loop_cpu_ns=%lld\n", steps, cpu_ns);
  return 0;
}
