// Programs with one known behaviour each, for tests that say what a report on them must hold.
//
//   known_behaviour two_streams       a consumer on one stream waits for a producer on another
//   known_behaviour malloc_in_loop    every step allocates and frees device memory
//   known_behaviour busy STEPS        steps of one long kernel on device 0
//   known_behaviour exit_race         four threads work, then all call exit(3) at once
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

void require(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "known_behaviour: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

constexpr int kElements = 1 << 20;
constexpr int kBlock = 256;

__global__ void producer(float* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] = 1.0f;
}
__global__ void consumer(float* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += 1.0f;
}

int two_streams() {
  float* values = nullptr;
  REQUIRE(cudaMalloc(&values, kElements * sizeof(float)));
  cudaStream_t first = nullptr, second = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  REQUIRE(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  cudaEvent_t produced = nullptr, consumed = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&produced, cudaEventDisableTiming));
  REQUIRE(cudaEventCreateWithFlags(&consumed, cudaEventDisableTiming));
  for (int i = 0; i < 10; ++i) {
    producer<<<kElements / kBlock, kBlock, 0, first>>>(values);
    REQUIRE(cudaEventRecord(produced, first));
    REQUIRE(cudaStreamWaitEvent(second, produced, 0));
    consumer<<<kElements / kBlock, kBlock, 0, second>>>(values);
    REQUIRE(cudaEventRecord(consumed, second));
    REQUIRE(cudaStreamWaitEvent(first, consumed, 0));
  }
  REQUIRE(cudaDeviceSynchronize());
  return 0;
}

int malloc_in_loop() {
  for (int step = 0; step < 20; ++step) {
    nvtxRangePushA("step");
    float* scratch = nullptr;
    REQUIRE(cudaMalloc(&scratch, kElements * sizeof(float)));
    producer<<<kElements / kBlock, kBlock>>>(scratch);
    consumer<<<kElements / kBlock, kBlock>>>(scratch);
    REQUIRE(cudaStreamSynchronize(nullptr));
    REQUIRE(cudaFree(scratch));
    nvtxRangePop();
  }
  return 0;
}

int busy(int steps) {
  float* values = nullptr;
  REQUIRE(cudaMalloc(&values, kElements * sizeof(float)));
  for (int step = 0; step < steps; ++step) {
    nvtxRangePushA("step");
    producer<<<kElements / kBlock, kBlock>>>(values);
    REQUIRE(cudaStreamSynchronize(nullptr));
    nvtxRangePop();
  }
  return 0;
}

[[noreturn]] int exit_race() {
  constexpr int kThreads = 4;
  std::atomic<int> ready{0};
  REQUIRE(cudaFree(nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&ready] {
      busy(50);
      ++ready;
      while (ready.load() < kThreads) {
      }
      std::exit(3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::abort();  // not reached: the process ends while its threads are waited for
}

}  // namespace

int main(int argc, char** argv) {
  const char* const behaviour = argc > 1 ? argv[1] : "";
  if (std::strcmp(behaviour, "two_streams") == 0) return two_streams();
  if (std::strcmp(behaviour, "malloc_in_loop") == 0) return malloc_in_loop();
  if (std::strcmp(behaviour, "busy") == 0) return busy(argc > 2 ? std::atoi(argv[2]) : 20);
  if (std::strcmp(behaviour, "exit_race") == 0) return exit_race();
  std::fprintf(stderr,
               "usage: known_behaviour two_streams | malloc_in_loop | busy STEPS | exit_race\n");
  return 2;
}
