// A program that serves requests until its input ends, with ranges as a language model's server has
// them: request { prefill, token … }. Every request prints a line when it is done.
//
//   server_like REQUESTS [PAUSE_MS]     as many requests; 0: until the input ends
//   server_like steps STEPS             STEPS times a range "step" of three kernels, a graph launch
//                                       and a synchronisation
//   server_like profiler                three rounds of two kernels, of which the second is between
//                                       cudaProfilerStart and cudaProfilerStop
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "server_like: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr int kTokens = 3;

__global__ void prefill(float* value) {
  value[0] += 1.0f;
}
__global__ void token(float* value) {
  value[0] += 2.0f;
}
__global__ void round_kernel(float* value) {
  value[0] += 3.0f;
}
__global__ void in_graph(float* value) {
  value[0] += 4.0f;
}

bool input_has_ended() {
  pollfd input{0, POLLIN, 0};
  char ignored[64];
  return poll(&input, 1, 0) > 0 && read(0, ignored, sizeof ignored) <= 0;
}

int serve(long requests, int pause_ms, float* value, cudaStream_t stream) {
  for (long request = 0; requests > 0 ? request < requests : !input_has_ended(); ++request) {
    nvtxRangePushA("request");
    nvtxRangePushA("prefill");
    prefill<<<64, 64, 0, stream>>>(value);
    nvtxRangePop();
    for (int i = 0; i < kTokens; ++i) {
      nvtxRangePushA("token");
      token<<<16, 64, 0, stream>>>(value);
      nvtxRangePop();
    }
    REQUIRE(cudaStreamSynchronize(stream));
    nvtxRangePop();
    std::printf("request %ld\n", request);
    std::fflush(stdout);
    if (pause_ms > 0) std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
  }
  return 0;
}

int steps(int count, float* value, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  in_graph<<<8, 64, 0, stream>>>(value);
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
  for (int step = 0; step < count; ++step) {
    nvtxRangePushA("step");
    for (int i = 0; i < 3; ++i) token<<<16, 64, 0, stream>>>(value);
    REQUIRE(cudaGraphLaunch(executable, stream));
    REQUIRE(cudaStreamSynchronize(stream));
    nvtxRangePop();
  }
  return 0;
}

int profiler(float* value, cudaStream_t stream) {
  for (int round = 0; round < 3; ++round) {
    if (round == 1) REQUIRE(cudaProfilerStart());
    for (int i = 0; i < 2; ++i) round_kernel<<<16, 64, 0, stream>>>(value);
    REQUIRE(cudaStreamSynchronize(stream));
    if (round == 1) REQUIRE(cudaProfilerStop());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  float* value = nullptr;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaMalloc(&value, sizeof *value));
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  if (argc > 2 && std::strcmp(argv[1], "steps") == 0)
    return steps(std::atoi(argv[2]), value, stream);
  if (argc > 1 && std::strcmp(argv[1], "profiler") == 0) return profiler(value, stream);
  return serve(argc > 1 ? std::atol(argv[1]) : 0, argc > 2 ? std::atoi(argv[2]) : 0, value, stream);
}
