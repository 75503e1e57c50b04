// 16 threads on 32 streams, each thread on two of its own: kernels, copies, fills, events between
// its streams, NVTX ranges, allocation, host functions, graphs captured and replayed.
//
//   many_threads [--rounds N] [--shared] [--planted LIBRARY]
//
// Without --shared nothing depends on which thread comes first, so that a recording can be compared
// with what ran. With it the threads also wait for each other's events, use the NULL stream and
// wait for the whole device: more for race detectors to look at. Each thread calls planted_fault()
// of LIBRARY once.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void require(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "many_threads:%d: %s: %s\n", line, call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call, __LINE__)

constexpr int kThreads = 16;
constexpr int kElements = 1 << 14;
constexpr std::size_t kBytes = kElements * sizeof(float);
constexpr unsigned kBlock = 128;

__global__ void add(float* target, const float* source) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kElements) target[i] += source[i];
}
__global__ void scale(float* values, float factor) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kElements) values[i] *= factor;
}

struct Options {
  int rounds = 20;
  bool shared = false;
  void (*planted_fault)() = nullptr;
};

/// What the other threads may wait for: set once, before it is first read.
std::atomic<cudaEvent_t> shared_events[kThreads];

void count_call(void* counter) {
  static_cast<std::atomic<int>*>(counter)->fetch_add(1);
}

/// Runs behind the destructors of thread_local objects, which is late: what a library keeps for the
/// thread may be gone.
void end_of_thread(void*) {
  nvtxRangePushA("end_of_thread");
  std::thread([] {}).join();
  nvtxRangePop();
}

class Worker {
 public:
  Worker(int number, const Options& options) : number_(number), options_(options) {}

  void run() {
    if (options_.planted_fault != nullptr) options_.planted_fault();
    set_up();
    for (int round = 0; round < options_.rounds; ++round) {
      nvtxRangePushA(("round_" + std::to_string(round % 5)).c_str());
      work(round);
      replay(round);
      allocate();
      if (options_.shared) meet(round);
      nvtxRangePop();
    }
    REQUIRE(cudaStreamSynchronize(first_));
    REQUIRE(cudaStreamSynchronize(second_));
    tear_down();
  }

 private:
  void set_up() {
    REQUIRE(cudaStreamCreateWithFlags(&first_, cudaStreamNonBlocking));
    REQUIRE(cudaStreamCreateWithFlags(&second_, cudaStreamNonBlocking));
    for (cudaEvent_t& event : events_) {
      REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    shared_events[number_].store(events_[kSharedEvent]);
    REQUIRE(cudaMalloc(&values_, kBytes));
    REQUIRE(cudaMalloc(&more_, kBytes));
    REQUIRE(cudaMallocHost(&pinned_, kBytes));
    pageable_.assign(kElements, 1.0f);
  }

  void launch(cudaStream_t stream) {
    nvtxRangePushA("launch");
    add<<<kElements / kBlock, kBlock, 0, stream>>>(values_, more_);
    scale<<<kElements / kBlock, kBlock, 0, stream>>>(values_, 0.5f);
    REQUIRE(cudaGetLastError());
    nvtxRangePop();
  }

  void work(int round) {
    REQUIRE(cudaMemcpyAsync(values_, pinned_, kBytes, cudaMemcpyHostToDevice, first_));
    REQUIRE(cudaMemsetAsync(more_, round, kBytes, second_));
    REQUIRE(cudaEventRecord(events_[0], second_));
    REQUIRE(cudaStreamWaitEvent(first_, events_[0], 0));
    launch(first_);
    REQUIRE(cudaEventRecord(events_[1], first_));
    REQUIRE(cudaStreamWaitEvent(second_, events_[1], 0));
    REQUIRE(cudaMemcpyAsync(pageable_.data(), values_, kBytes, cudaMemcpyDeviceToHost, second_));
    REQUIRE(cudaMemcpyAsync(more_, values_, kBytes, cudaMemcpyDeviceToDevice, second_));
    REQUIRE(cudaLaunchHostFunc(second_, count_call, &calls_));
    if (round % 3 == 0) REQUIRE(cudaEventSynchronize(events_[1]));
    if (round % 3 == 1) REQUIRE(cudaStreamSynchronize(second_));
  }

  /// A fork and a join on the two streams.
  void capture() {
    nvtxRangePushA("capture");
    REQUIRE(cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal));
    launch(first_);
    REQUIRE(cudaEventRecord(events_[2], first_));
    REQUIRE(cudaStreamWaitEvent(second_, events_[2], 0));
    launch(second_);
    REQUIRE(cudaMemsetAsync(more_, 0, 1024, first_));
    REQUIRE(cudaEventRecord(events_[3], second_));
    REQUIRE(cudaStreamWaitEvent(first_, events_[3], 0));
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(first_, &graph));
    if (graph_ != nullptr) REQUIRE(cudaGraphExecDestroy(graph_));
    REQUIRE(cudaGraphInstantiate(&graph_, graph, 0));
    REQUIRE(cudaGraphDestroy(graph));
    nvtxRangePop();
  }

  void replay(int round) {
    // Nothing of an earlier replay runs any more when its graph is destroyed.
    if (round % 7 == 0) REQUIRE(cudaStreamSynchronize(first_));
    if (round % 7 == 0) capture();
    REQUIRE(cudaGraphLaunch(graph_, first_));
  }

  void allocate() {
    void* memory = nullptr;
    REQUIRE(cudaMallocAsync(&memory, 4096, first_));
    REQUIRE(cudaMemsetAsync(memory, 0, 4096, first_));
    REQUIRE(cudaFreeAsync(memory, first_));
    REQUIRE(cudaMalloc(&memory, 4096));
    REQUIRE(cudaFree(memory));
  }

  void meet(int round) {
    REQUIRE(cudaEventRecord(events_[kSharedEvent], first_));
    cudaEvent_t others = shared_events[(number_ + round + 1) % kThreads].load();
    if (others != nullptr) REQUIRE(cudaStreamWaitEvent(second_, others, 0));
    if (others != nullptr && round % 4 == 1) REQUIRE(cudaEventSynchronize(others));
    if (round % 4 == 2) launch(nullptr);
    if (round % 4 == 3) REQUIRE(cudaDeviceSynchronize());
  }

  void tear_down() {
    REQUIRE(cudaGraphExecDestroy(graph_));
    for (int i = 0; i < kSharedEvent; ++i) REQUIRE(cudaEventDestroy(events_[i]));
    REQUIRE(cudaStreamDestroy(first_));
    REQUIRE(cudaStreamDestroy(second_));
    REQUIRE(cudaFree(values_));
    REQUIRE(cudaFree(more_));
    REQUIRE(cudaFreeHost(pinned_));
    if (calls_.load() != options_.rounds) std::fprintf(stderr, "host functions are missing\n");
  }

  static constexpr int kSharedEvent = 4;

  int number_;
  Options options_;
  cudaStream_t first_ = nullptr;
  cudaStream_t second_ = nullptr;
  cudaEvent_t events_[kSharedEvent + 1] = {};
  cudaGraphExec_t graph_ = nullptr;
  float* values_ = nullptr;
  float* more_ = nullptr;
  float* pinned_ = nullptr;
  std::vector<float> pageable_;
  std::atomic<int> calls_{0};
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--shared") == 0) options.shared = true;
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      options.rounds = std::atoi(argv[i + 1]);
    }
    if (std::strcmp(argv[i], "--planted") == 0 && i + 1 < argc) {
      void* library = dlopen(argv[i + 1], RTLD_NOW);
      if (library == nullptr) std::fprintf(stderr, "many_threads: %s\n", dlerror());
      if (library == nullptr) return 1;
      options.planted_fault = reinterpret_cast<void (*)()>(dlsym(library, "planted_fault"));
    }
  }
  pthread_key_t key{};
  if (pthread_key_create(&key, end_of_thread) != 0) return 1;
  REQUIRE(cudaFree(nullptr));  // the context exists before the threads race for it
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i, options, key] {
      pthread_setspecific(key, &shared_events[i]);
      Worker(i, options).run();
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("many_threads: %d rounds\n", options.rounds);
  return 0;
}
