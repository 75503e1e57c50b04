// A CUDA program drawn from a seed: kernels, copies, fills, events across streams, allocations,
// synchronisations and graph replays in random order. It computes nothing of use; what counts is
// that a recording of it must hold exactly what ran.
//
//   generated_program --seed N [--operations N] [--threads N]
//
// One seed always makes the same calls. With several threads each thread draws its own sequence on
// streams of its own and does nothing that waits for the others (the NULL stream, whole-device
// synchronisation, cudaMalloc and cudaFree in the loop), so that times cannot depend on who was
// first.
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void require(cudaError_t status, const char* call, int line) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "generated_program:%d: %s: %s\n", line, call, cudaGetErrorString(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call, __LINE__)

__global__ void scale(float* values, std::size_t n, float factor) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < n) values[i] *= factor;
}

template <typename T, int kUnroll>
__global__ void axpy(T* target, const T* source, std::size_t n, T factor) {
  const std::size_t first =
      (blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x) * kUnroll;
  for (int u = 0; u < kUnroll; ++u) {
    if (first + u < n) target[first + u] += factor * source[first + u];
  }
}

__global__ void reduce_blocks(const float* values, std::size_t n, float* sums) {
  extern __shared__ float shared[];
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  shared[threadIdx.x] = i < n ? values[i] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0.0f;
    for (unsigned t = 0; t < blockDim.x; ++t) sum += shared[t];
    sums[blockIdx.x] = sum;
  }
}

/// SplitMix64 (Steele, Lea, Flood, 2014): the whole state is one number.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

 private:
  std::uint64_t state_;
};

constexpr std::size_t kElements = 1 << 16;
constexpr std::size_t kBytes = kElements * sizeof(float);
constexpr unsigned kBlock = 128;

/// What one thread works with.
class Worker {
 public:
  Worker(std::uint64_t seed, int operations, int device, bool alone)
      : random_(seed), operations_(operations), device_(device), alone_(alone) {}

  void run() {
    REQUIRE(cudaSetDevice(device_));
    set_up();
    for (int i = 0; i < operations_; ++i) {
      nvtxRangePushA(("round_" + std::to_string(i % 7)).c_str());
      operation();
      nvtxRangePop();
    }
    for (const auto stream : streams_) REQUIRE(cudaStreamSynchronize(stream));
    if (alone_) tear_down();
  }

 private:
  static constexpr std::size_t kStreams = 4;
  static constexpr std::size_t kEvents = 4;
  static constexpr std::size_t kBuffers = 3;

  void set_up() {
    for (std::size_t i = 0; i < kStreams; ++i) {
      cudaStream_t stream = nullptr;
      const unsigned flags = alone_ && i % 2 == 0 ? cudaStreamDefault : cudaStreamNonBlocking;
      REQUIRE(cudaStreamCreateWithFlags(&stream, flags));
      streams_.push_back(stream);
    }
    for (std::size_t i = 0; i < kEvents; ++i) {
      cudaEvent_t event = nullptr;
      REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      events_.push_back(event);
    }
    for (cudaEvent_t& event : capture_events_) {
      REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    for (std::size_t i = 0; i < kBuffers; ++i) {
      float* buffer = nullptr;
      REQUIRE(cudaMalloc(&buffer, kBytes));
      buffers_.push_back(buffer);
    }
    REQUIRE(cudaMallocHost(&pinned_, kBytes));
    pageable_.assign(kElements, 1.0f);
  }

  void tear_down() {
    for (const auto graph : graphs_) REQUIRE(cudaGraphExecDestroy(graph));
    for (const auto event : events_) REQUIRE(cudaEventDestroy(event));
    for (const auto event : capture_events_) REQUIRE(cudaEventDestroy(event));
    for (const auto stream : streams_) REQUIRE(cudaStreamDestroy(stream));
    for (float* buffer : buffers_) REQUIRE(cudaFree(buffer));
    REQUIRE(cudaFreeHost(pinned_));
  }

  cudaStream_t any_stream() { return streams_[random_.below(kStreams)]; }
  float* any_buffer() { return buffers_[random_.below(kBuffers)]; }

  void launch(cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(1 + random_.below(kElements / kBlock / 4));
    const std::size_t n = static_cast<std::size_t>(blocks) * kBlock;
    switch (random_.below(4)) {
      case 0:
        scale<<<blocks, kBlock, 0, stream>>>(any_buffer(), n, 0.5f);
        break;
      case 1:
        axpy<float, 4>
            <<<dim3(blocks, 1, 1), kBlock, 0, stream>>>(buffers_[0], buffers_[1], n, 2.0f);
        break;
      case 2:
        axpy<double, 1><<<dim3(8, 2, 1), dim3(32, 4), 0, stream>>>(
            reinterpret_cast<double*>(buffers_[0]), reinterpret_cast<double*>(buffers_[1]), 512,
            1.5);
        break;
      default:
        reduce_blocks<<<blocks, kBlock, kBlock * sizeof(float), stream>>>(buffers_[0], n,
                                                                          buffers_[2]);
    }
    REQUIRE(cudaGetLastError());
  }

  void copy(cudaStream_t stream) {
    const std::size_t bytes = sizeof(float) * (1 + random_.below(kElements));
    switch (random_.below(7)) {
      case 0:
        REQUIRE(cudaMemcpyAsync(any_buffer(), pinned_, bytes, cudaMemcpyHostToDevice, stream));
        break;
      case 1:
        REQUIRE(cudaMemcpyAsync(pinned_, any_buffer(), bytes, cudaMemcpyDeviceToHost, stream));
        break;
      case 2:
        REQUIRE(
            cudaMemcpyAsync(any_buffer(), pageable_.data(), bytes, cudaMemcpyHostToDevice, stream));
        break;
      case 3:
        if (!alone_) break;
        REQUIRE(cudaMemcpy(pageable_.data(), any_buffer(), bytes, cudaMemcpyDeviceToHost));
        break;
      case 4:
        REQUIRE(cudaMemcpyAsync(buffers_[0], buffers_[1], bytes, cudaMemcpyDeviceToDevice, stream));
        break;
      case 5:
        REQUIRE(cudaMemsetAsync(any_buffer(), static_cast<int>(random_.below(256)), bytes, stream));
        break;
      default:
        if (alone_) REQUIRE(cudaMemset(any_buffer(), 0, bytes));
    }
  }

  void wait() {
    const std::size_t event = random_.below(kEvents);
    switch (random_.below(7)) {
      case 0:
      case 1:
        REQUIRE(cudaEventRecord(events_[event], any_stream()));
        break;
      case 2:
      case 3:
        REQUIRE(cudaStreamWaitEvent(any_stream(), events_[event], 0));
        break;
      case 4:
        REQUIRE(cudaEventSynchronize(events_[event]));
        break;
      case 5:
        REQUIRE(cudaStreamSynchronize(any_stream()));
        break;
      default:
        if (alone_) REQUIRE(cudaDeviceSynchronize());
    }
  }

  void allocate(cudaStream_t stream) {
    void* memory = nullptr;
    const std::size_t bytes = 256u << random_.below(12);
    if (alone_ && random_.below(2) == 0) {
      REQUIRE(cudaMalloc(&memory, bytes));
      REQUIRE(cudaFree(memory));
    } else {
      REQUIRE(cudaMallocAsync(&memory, bytes, stream));
      REQUIRE(cudaMemsetAsync(memory, 0, bytes, stream));
      REQUIRE(cudaFreeAsync(memory, stream));
    }
  }

  /// A fork and a join, so that the graph is not a chain.
  void capture() {
    cudaStream_t origin = streams_[0];
    cudaStream_t branch = streams_[2];
    nvtxRangePushA("capture");
    REQUIRE(cudaStreamBeginCapture(origin, cudaStreamCaptureModeThreadLocal));
    const std::size_t length = 1 + random_.below(4);
    for (std::size_t i = 0; i < length; ++i) {
      nvtxRangePushA(("block_" + std::to_string(i)).c_str());
      launch(origin);
      REQUIRE(cudaEventRecord(capture_events_[0], origin));
      REQUIRE(cudaStreamWaitEvent(branch, capture_events_[0], 0));
      launch(branch);
      REQUIRE(cudaMemsetAsync(buffers_[2], 0, 1024, origin));
      REQUIRE(cudaMemcpyAsync(buffers_[0], buffers_[1], 4096, cudaMemcpyDeviceToDevice, branch));
      REQUIRE(cudaEventRecord(capture_events_[1], branch));
      REQUIRE(cudaStreamWaitEvent(origin, capture_events_[1], 0));
      nvtxRangePop();
    }
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(origin, &graph));
    cudaGraphExec_t executable = nullptr;
    REQUIRE(cudaGraphInstantiate(&executable, graph, 0));
    REQUIRE(cudaGraphDestroy(graph));
    graphs_.push_back(executable);
    nvtxRangePop();
  }

  void replay() {
    if (graphs_.empty() || (graphs_.size() < 3 && random_.below(4) == 0)) return capture();
    REQUIRE(cudaGraphLaunch(graphs_[random_.below(graphs_.size())], any_stream()));
  }

  void operation() {
    const std::size_t draw = random_.below(100);
    if (draw < 45) {
      launch(alone_ && random_.below(10) == 0 ? nullptr : any_stream());
    } else if (draw < 65) {
      copy(any_stream());
    } else if (draw < 85) {
      wait();
    } else if (draw < 90) {
      allocate(any_stream());
    } else {
      replay();
    }
  }

  Random random_;
  int operations_;
  int device_;
  bool alone_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  cudaEvent_t capture_events_[2] =
      {};  // recorded while capturing: nobody may wait for them outside
  std::vector<float*> buffers_;
  std::vector<cudaGraphExec_t> graphs_;
  float* pinned_ = nullptr;
  std::vector<float> pageable_;
};

/// Contexts exist and kernels are loaded before threads could race for who pays for it.
void load_everything(int device) {
  REQUIRE(cudaSetDevice(device));
  float* buffer = nullptr;
  REQUIRE(cudaMalloc(&buffer, kBytes));
  scale<<<1, kBlock>>>(buffer, kBlock, 1.0f);
  axpy<float, 4><<<1, kBlock>>>(buffer, buffer, kBlock, 0.0f);
  axpy<double, 1>
      <<<1, 32>>>(reinterpret_cast<double*>(buffer), reinterpret_cast<double*>(buffer), 32, 0.0);
  reduce_blocks<<<1, kBlock, kBlock * sizeof(float)>>>(buffer, kBlock, buffer);
  REQUIRE(cudaGetLastError());
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaFree(buffer));
}

long option(int argc, char** argv, const char* name, long otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], name) == 0) return std::strtol(argv[i + 1], nullptr, 10);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const auto seed = static_cast<std::uint64_t>(option(argc, argv, "--seed", 1));
  const int operations = static_cast<int>(option(argc, argv, "--operations", 300));
  const long threads = option(argc, argv, "--threads", 1);
  int devices = 0;
  REQUIRE(cudaGetDeviceCount(&devices));
  if (threads <= 1) {
    Worker(seed, operations, 0, true).run();
    return 0;
  }
  for (int device = 0; device < devices; ++device) load_everything(device);
  std::vector<std::thread> workers;
  for (long i = 0; i < threads; ++i) {
    workers.emplace_back([=] {
      const auto own_seed = seed * 1000 + static_cast<std::uint64_t>(i);
      Worker(own_seed, operations, static_cast<int>(i % devices), false).run();
    });
  }
  for (std::thread& worker : workers) worker.join();
  std::printf("generated_program: seed %llu, %ld threads, %d operations each\n",
              static_cast<unsigned long long>(seed), threads, operations);
  return 0;
}
