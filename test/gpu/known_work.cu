// Work of which everything is known, for the check of a recorder on a GPU: does it, verifies what
// the GPU computed, and prints as one JSON object what a recording must hold.
//
//   known_work [--simulated]     a simulated GPU computes nothing, so there nothing is verified
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "known_work: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr int kElements = 1 << 16;
constexpr int kBlock = 256;
constexpr std::size_t kBytes = kElements * sizeof(float);
constexpr int kLaunchesAPhase = 100;
constexpr int kPhases = 3;
constexpr int kGraphKernels = 20;
constexpr int kGraphLaunches = 50;
constexpr int kScratchBlocks = 8;

/// What CUPTI stamps its records with on Linux.
long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__device__ void add_to(float* values, float amount) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += amount;
}

}  // namespace

// Not in the anonymous namespace: these names are looked for in the recording.
__global__ void first_phase(float* values) {
  add_to(values, 1.0f);
}
__global__ void second_phase(float* values) {
  add_to(values, 2.0f);
}
__global__ void third_phase(float* values) {
  add_to(values, 3.0f);
}
__global__ void in_graph(float* values) {
  add_to(values, 1.0f);
}

namespace {

using Kernel = void (*)(float*);
constexpr const char* kNames[kPhases] = {"first_phase", "second_phase", "third_phase"};
constexpr Kernel kKernels[kPhases] = {first_phase, second_phase, third_phase};

struct Window {
  long long from_ns, to_ns;
};

Window run_phase(int phase, float* values, cudaStream_t stream) {
  nvtxRangePushA(kNames[phase]);
  const long long from = now_ns();
  for (int i = 0; i < kLaunchesAPhase; ++i) {
    kKernels[phase]<<<kElements / kBlock, kBlock, 0, stream>>>(values);
  }
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaStreamSynchronize(stream));
  const long long to = now_ns();
  nvtxRangePop();
  return {from, to};
}

cudaGraphExec_t capture(float* values, float* copy, cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  nvtxRangePushA("capture");
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  for (int i = 0; i < kGraphKernels; ++i) {
    in_graph<<<kElements / kBlock, kBlock, 0, stream>>>(values);
  }
  REQUIRE(cudaMemcpyAsync(copy, values, kBytes, cudaMemcpyDeviceToDevice, stream));
  REQUIRE(cudaMemsetAsync(values, 0, kBytes, stream));
  REQUIRE(cudaStreamEndCapture(stream, &graph));
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
  REQUIRE(cudaGraphDestroy(graph));
  nvtxRangePop();
  return executable;
}

void verify(const float* device, float expected, const char* what) {
  std::vector<float> host(kElements);
  REQUIRE(cudaMemcpy(host.data(), device, kBytes, cudaMemcpyDeviceToHost));
  for (const float value : host) {
    if (value == expected) continue;
    std::fprintf(stderr, "known_work: %s is %g, not %g\n", what, static_cast<double>(value),
                 static_cast<double>(expected));
    std::exit(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_simulated = argc > 1 && std::strcmp(argv[1], "--simulated") == 0;
  float* values = nullptr;
  float* copy = nullptr;
  float* scratch[kScratchBlocks] = {};
  REQUIRE(cudaMalloc(&values, kBytes));
  REQUIRE(cudaMalloc(&copy, kBytes));
  for (int i = 0; i < kScratchBlocks; ++i) REQUIRE(cudaMalloc(&scratch[i], kBytes * (i + 1)));
  for (float*& block : scratch) REQUIRE(cudaFree(block));
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const std::vector<float> zeros(kElements, 0.0f);
  REQUIRE(cudaMemcpy(values, zeros.data(), kBytes, cudaMemcpyHostToDevice));

  Window windows[kPhases];
  for (int phase = 0; phase < kPhases; ++phase) windows[phase] = run_phase(phase, values, stream);
  int device_to_host = 0;
  if (!is_simulated) {
    verify(values, kLaunchesAPhase * (1.0f + 2.0f + 3.0f), "the sum of the phases");
    ++device_to_host;
  }
  REQUIRE(cudaMemsetAsync(values, 0, kBytes, stream));
  const cudaGraphExec_t executable = capture(values, copy, stream);
  nvtxRangePushA("replay");
  for (int i = 0; i < kGraphLaunches; ++i) REQUIRE(cudaGraphLaunch(executable, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  nvtxRangePop();
  if (!is_simulated) {
    verify(copy, kGraphKernels, "the graph's sum");
    ++device_to_host;
  }
  REQUIRE(cudaGraphExecDestroy(executable));
  REQUIRE(cudaStreamDestroy(stream));
  REQUIRE(cudaFree(values));
  REQUIRE(cudaFree(copy));

  std::printf("{\"kernels\": {");
  for (const char* const name : kNames) std::printf("\"%s\": %d, ", name, kLaunchesAPhase);
  std::printf("\"in_graph\": %d}, ", kGraphKernels * kGraphLaunches);
  std::printf(
      "\"copies\": {\"host_to_device\": 1, \"device_to_host\": %d, \"device_to_device\": %d}, ",
      device_to_host, kGraphLaunches);
  std::printf("\"copy_bytes\": %zu, \"fills\": %d, ", kBytes, 1 + kGraphLaunches);
  std::printf(
      "\"graph\": {\"kernel_nodes\": %d, \"launches\": %d, \"capture_range\": \"capture\"}, ",
      kGraphKernels, kGraphLaunches);
  std::printf(
      "\"ranges\": {\"first_phase\": 1, \"second_phase\": 1, \"third_phase\": 1, "
      "\"capture\": 1, \"replay\": 1}, ");
  std::printf("\"allocations\": {\"count\": %d, \"bytes\": %zu}, \"frees\": %d, ",
              2 + kScratchBlocks, kBytes * (2 + kScratchBlocks * (kScratchBlocks + 1) / 2),
              2 + kScratchBlocks);
  std::printf("\"windows\": {");
  for (int phase = 0; phase < kPhases; ++phase) {
    std::printf("%s\"%s\": [%lld, %lld]", phase == 0 ? "" : ", ", kNames[phase],
                windows[phase].from_ns, windows[phase].to_ns);
  }
  std::printf("}, \"verified\": %s}\n", is_simulated ? "false" : "true");
  return 0;
}
