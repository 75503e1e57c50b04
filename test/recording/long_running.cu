// A program that runs until its input ends, a step every few milliseconds:
//
//   range "program" (pushed) and range "session" (started), from the beginning to the end
//     range "capture", once: a graph of one kernel, in a range "layer"
//     range "step", again and again: a kernel, a replay of the graph, a synchronisation; a line
//   long_running idle STEPS    as many steps, then only waits for the end of its input
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
  std::fprintf(stderr, "long_running: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

__global__ void step_kernel(float* value) {
  value[0] += 1.0f;
}
__global__ void graph_kernel(float* value) {
  value[0] += 2.0f;
}

bool input_ends_within(int milliseconds) {
  pollfd input{0, POLLIN, 0};
  char ignored[64];
  return poll(&input, 1, milliseconds) > 0 && read(0, ignored, sizeof ignored) <= 0;
}

}  // namespace

int main(int argc, char** argv) {
  const long most = argc > 2 && std::strcmp(argv[1], "idle") == 0 ? std::atol(argv[2]) : 0;
  nvtxRangePushA("program");
  const nvtxRangeId_t session = nvtxRangeStartA("session");
  float* value = nullptr;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaMalloc(&value, sizeof *value));
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  nvtxRangePushA("capture");
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  nvtxRangePushA("layer");
  graph_kernel<<<8, 64, 0, stream>>>(value);
  nvtxRangePop();
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
  nvtxRangePop();
  for (long step = 0; most == 0 || step < most; ++step) {
    nvtxRangePushA("step");
    step_kernel<<<16, 64, 0, stream>>>(value);
    REQUIRE(cudaGraphLaunch(executable, stream));
    REQUIRE(cudaStreamSynchronize(stream));
    nvtxRangePop();
    std::printf("step %ld\n", step);
    std::fflush(stdout);
    if (input_ends_within(3)) break;
  }
  while (most != 0 && !input_ends_within(100)) {
  }
  nvtxRangeEnd(session);
  nvtxRangePop();
  return 0;
}
