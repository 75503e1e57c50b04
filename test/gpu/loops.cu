// Three loops whose steps are timed by the host, for measuring what a recorder costs:
//
//   loops gemm|short|graph SECONDS
//
// gemm:  4 large matrix products a step; short: 200 kernels of a few microseconds a step; graph:
// the same 200 as one graph launch. Each step is an NVTX range and ends with a synchronisation.
// Prints one JSON object.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "loops: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr int kTile = 16;
constexpr int kWidth = 2048;
constexpr int kProducts = 4;
constexpr int kShortKernels = 200;
constexpr int kWarmUp = 5;

long long now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

}  // namespace

__global__ void product(const float* left, const float* right, float* out, int width) {
  __shared__ float left_tile[kTile][kTile];
  __shared__ float right_tile[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int tile = 0; tile < width; tile += kTile) {
    left_tile[threadIdx.y][threadIdx.x] = left[row * width + tile + threadIdx.x];
    right_tile[threadIdx.y][threadIdx.x] = right[(tile + threadIdx.y) * width + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += left_tile[threadIdx.y][i] * right_tile[i][threadIdx.x];
    __syncthreads();
  }
  out[row * width + column] = sum;
}

/// A chain of dependent operations: a few microseconds, whatever the GPU's width.
__global__ void short_work(float* values, int length) {
  float value = values[threadIdx.x];
  for (int i = 0; i < length; ++i) value = value * 0.999f + 0.001f;
  values[threadIdx.x] = value;
}

namespace {

constexpr int kShortLength = 1200;

class Loop {
 public:
  explicit Loop(const char* kind) : kind_(kind) {
    const std::size_t bytes = sizeof(float) * kWidth * kWidth;
    for (float** matrix : {&left_, &right_, &out_}) {
      REQUIRE(cudaMalloc(matrix, bytes));
      REQUIRE(cudaMemset(*matrix, 0, bytes));
    }
    REQUIRE(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    if (is("graph")) instantiate();
  }

  void step() {
    if (is("gemm")) {
      const dim3 grid(kWidth / kTile, kWidth / kTile), block(kTile, kTile);
      for (int i = 0; i < kProducts; ++i) {
        product<<<grid, block, 0, stream_>>>(left_, right_, out_, kWidth);
      }
    } else if (is("short")) {
      launch_short();
    } else {
      REQUIRE(cudaGraphLaunch(executable_, stream_));
    }
    REQUIRE(cudaStreamSynchronize(stream_));
  }

  int kernels_a_step() const { return is("gemm") ? kProducts : kShortKernels; }

 private:
  bool is(const char* kind) const { return std::strcmp(kind_, kind) == 0; }
  void launch_short() {
    for (int i = 0; i < kShortKernels; ++i) short_work<<<1, 128, 0, stream_>>>(out_, kShortLength);
  }
  void instantiate() {
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    launch_short();
    REQUIRE(cudaStreamEndCapture(stream_, &graph));
    REQUIRE(cudaGraphInstantiate(&executable_, graph, 0));
    REQUIRE(cudaGraphDestroy(graph));
  }

  const char* kind_;
  float* left_ = nullptr;
  float* right_ = nullptr;
  float* out_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const char* const kind = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 0.0;
  const bool is_known = std::strcmp(kind, "gemm") == 0 || std::strcmp(kind, "short") == 0 ||
                        std::strcmp(kind, "graph") == 0;
  if (!is_known || !(seconds > 0.0)) {
    std::fprintf(stderr, "usage: loops gemm|short|graph SECONDS\n");
    return 2;
  }
  Loop loop(kind);
  for (int i = 0; i < kWarmUp; ++i) loop.step();
  std::vector<long long> steps_ns;
  const long long begin = now_ns();
  const long long deadline = begin + static_cast<long long>(seconds * 1e9);
  long long last = begin;
  while (last < deadline) {
    nvtxRangePushA("step");
    loop.step();
    nvtxRangePop();
    const long long now = now_ns();
    steps_ns.push_back(now - last);
    last = now;
  }
  const std::size_t steps = steps_ns.size();
  std::nth_element(steps_ns.begin(), steps_ns.begin() + static_cast<long>(steps / 2),
                   steps_ns.end());
  std::printf(
      "{\"loop\": \"%s\", \"steps\": %zu, \"warm_up\": %d, \"kernels_a_step\": %d, "
      "\"median_ns\": %lld, \"mean_ns\": %lld}\n",
      kind, steps, kWarmUp, loop.kernels_a_step(), steps_ns[steps / 2],
      (last - begin) / static_cast<long long>(steps));
  return 0;
}
