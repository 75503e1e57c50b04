// Several host threads, each with a device and streams of its own, that hand blocks round a ring:
// every thread waits for its neighbour's event and copies the neighbour's block to its own device.
// Then cluster launches, and calls that must fail, whose errors are read and cleared.

#include <cooperative_groups.h>
#include <cuda.h>  // types of the driver's functions only, nothing of it is linked
#include <cuda_runtime.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

static void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s failed at %s:%d: %s\n", call, file, line, cudaGetErrorString(error));
    std::exit(1);
  }
}

constexpr int kElements = 1 << 16;
constexpr size_t kBytes = kElements * sizeof(float);
constexpr int kThreads = 128;
constexpr int kClusterSize = 4;

namespace {  // kernels of internal linkage have a per-file part in their names

__global__ void blend(float* own, const float* received, float weight) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  own[i] = own[i] * (1.0F - weight) + received[i] * weight;
}

template <typename T>
__global__ void cluster_sum(const T* values, T* sums) {
  namespace cg = cooperative_groups;
  __shared__ T block_sum;
  const cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) {
    block_sum = 0;
  }
  __syncthreads();
  atomicAdd(&block_sum, values[blockIdx.x * blockDim.x + threadIdx.x]);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0) {
    T sum = 0;
    for (unsigned int rank = 0; rank < cluster.num_blocks(); ++rank) {
      sum += *cluster.map_shared_rank(&block_sum, rank);
    }
    sums[blockIdx.x / cluster.num_blocks()] = sum;
  }
  cluster.sync();  // no block may leave while another reads its shared memory
}

__global__ void __cluster_dims__(2, 1, 1) fixed_cluster(float* values) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += 1.0F;
}

}  // namespace

// C++17 has no std::barrier.
class Barrier {
 public:
  explicit Barrier(int parties) : parties_(parties) {}
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    const long round = round_;
    if (++arrived_ == parties_) {
      arrived_ = 0;
      ++round_;
      all_here_.notify_all();
      return;
    }
    all_here_.wait(lock, [&] { return round_ != round; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_here_;
  const int parties_;
  int arrived_ = 0;
  long round_ = 0;
};

struct Worker {
  int index = 0;
  int device = 0;
  cudaStream_t stream = nullptr;
  cudaEvent_t block_ready = nullptr;  // the neighbour's streams wait for it
  cudaEvent_t block_read = nullptr;   // recorded by the reader, waited for by the owner
  float* block = nullptr;
  float* received = nullptr;
  float* sums = nullptr;
  float* registered = nullptr;
  std::vector<float> storage;
};

static std::mutex print_mutex;

static void print_versions() {
  int driver = 0;
  int runtime = 0;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  std::printf("driver %d, runtime %d\n", driver, runtime);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  CHECK(cudaGetDriverEntryPointByVersion("cuDeviceGetName", &entry, 12000, cudaEnableDefault,
                                         &found));
  if (found == cudaDriverEntryPointSuccess && entry != nullptr) {
    char name[128] = {};
    const auto get_name = reinterpret_cast<CUresult (*)(char*, int, CUdevice)>(entry);
    const CUresult result = get_name(name, sizeof name, 0);
    std::printf("cuDeviceGetName by its entry point: %d, \"%s\"\n", result, name);
  }
  CHECK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &entry, 12000, cudaEnableDefault,
                                         &found));
  std::printf("an entry point that does not exist: query result %d\n", found);
}

static void prepare_devices(int device_count) {
  for (int device = 0; device < device_count; ++device) {
    CHECK(cudaInitDevice(device, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
    CHECK(cudaSetDevice(device));
    CHECK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync | cudaDeviceMapHost));
    unsigned int flags = 0;
    CHECK(cudaGetDeviceFlags(&flags));
    std::printf("device %d: flags %#x\n", device, flags);
  }
}

// Peer access is a property of the pair and is asked for by the device that reads.
static void enable_peer_access(int reader, int owner) {
  int possible = 0;
  CHECK(cudaDeviceCanAccessPeer(&possible, reader, owner));
  int rank = -1;
  if (possible != 0) {
    CHECK(cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, reader, owner));
    CHECK(cudaSetDevice(reader));
    const cudaError_t enabled = cudaDeviceEnablePeerAccess(owner, 0);
    if (enabled == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
    } else {
      CHECK(enabled);
    }
  }
  std::printf("device %d reads device %d: %s (rank %d)\n", reader, owner,
              possible != 0 ? "directly" : "through the host", rank);
}

static void set_up(Worker& w) {
  CHECK(cudaSetDevice(w.device));
  CHECK(cudaStreamCreateWithFlags(&w.stream, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&w.block_ready, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&w.block_read, cudaEventDisableTiming));
  CHECK(cudaMalloc(&w.block, kBytes));
  CHECK(cudaMalloc(&w.received, kBytes));
  CHECK(cudaMalloc(&w.sums, kBytes));
  w.storage.assign(kElements, static_cast<float>(w.index + 1));
  CHECK(cudaHostRegister(w.storage.data(), kBytes,
                         cudaHostRegisterPortable | cudaHostRegisterMapped));
  CHECK(cudaHostGetDevicePointer(&w.registered, w.storage.data(), 0));
}

static void describe(const Worker& w) {
  int stream_device = -1;
  unsigned long long stream_id = 0;
  unsigned int stream_flags = 0;
  CHECK(cudaStreamGetDevice(w.stream, &stream_device));
  CHECK(cudaStreamGetId(w.stream, &stream_id));
  CHECK(cudaStreamGetFlags(cudaStreamPerThread, &stream_flags));
  const std::unique_ptr<float[]> pageable(new float[16]);
  cudaPointerAttributes on_device{};
  cudaPointerAttributes on_host{};
  cudaPointerAttributes unknown{};
  CHECK(cudaPointerGetAttributes(&on_device, w.block));
  CHECK(cudaPointerGetAttributes(&on_host, w.storage.data()));
  CHECK(cudaPointerGetAttributes(&unknown, pageable.get()));
  const std::lock_guard<std::mutex> lock(print_mutex);
  std::printf(
      "thread %d: device %d, stream %llu on device %d, per-thread stream flags %u, "
      "memory types %d %d %d\n",
      w.index, w.device, stream_id, stream_device, stream_flags, on_device.type, on_host.type,
      unknown.type);
}

static void exchange(Worker& w, Worker& neighbour, Worker& reader, Barrier& barrier, int rounds) {
  CHECK(cudaMemcpyAsync(w.block, w.storage.data(), kBytes, cudaMemcpyHostToDevice, w.stream));
  for (int round = 0; round < rounds; ++round) {
    CHECK(cudaEventRecord(w.block_ready, w.stream));
    barrier.wait();  // an event counts from its record on, so all must have recorded
    CHECK(cudaStreamWaitEvent(cudaStreamPerThread, neighbour.block_ready, 0));
    // The own event too: the last blend has to be through with the receive buffer.
    CHECK(cudaStreamWaitEvent(cudaStreamPerThread, w.block_ready, 0));
    CHECK(cudaMemcpyPeerAsync(w.received, w.device, neighbour.block, neighbour.device, kBytes,
                              cudaStreamPerThread));
    CHECK(cudaEventRecord(w.block_read, cudaStreamPerThread));
    barrier.wait();
    // Change the own block only when it has been read and the other one has come.
    CHECK(cudaStreamWaitEvent(w.stream, reader.block_read, 0));
    CHECK(cudaStreamWaitEvent(w.stream, w.block_read, 0));
    blend<<<kElements / kThreads, kThreads, 0, w.stream>>>(w.block, w.received, 0.25F);
    CHECK(cudaGetLastError());
  }
  CHECK(cudaEventSynchronize(neighbour.block_read));  // another device's event
  CHECK(cudaMemcpyAsync(w.storage.data(), w.block, kBytes, cudaMemcpyDeviceToHost, w.stream));
  CHECK(cudaStreamSynchronize(w.stream));
  CHECK(cudaStreamSynchronize(cudaStreamPerThread));
  const std::lock_guard<std::mutex> lock(print_mutex);
  std::printf("thread %d: %d rounds, first value %g\n", w.index, rounds, w.storage[0]);
}

static void launch_clusters(Worker& w) {
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, w.device));
  if (properties.clusterLaunch == 0) {
    return;
  }
  cudaLaunchAttribute attributes[2] = {};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim.x = kClusterSize;
  attributes[0].val.clusterDim.y = 1;
  attributes[0].val.clusterDim.z = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  attributes[1].val.priority = 0;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(kElements / kThreads);
  config.blockDim = dim3(kThreads);
  config.stream = w.stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  int clusters = 0;
  int largest = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, cluster_sum<float>, &config));
  CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, cluster_sum<float>, &config));
  CHECK(
      cudaLaunchKernelEx(&config, cluster_sum<float>, static_cast<const float*>(w.block), w.sums));
  // The same launch once more, by the C interface, reading the registered host memory.
  const void* values = w.registered;
  void* arguments[] = {&values, &w.sums};
  CHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(cluster_sum<float>), arguments));
  fixed_cluster<<<kElements / kThreads, kThreads, 0, cudaStreamPerThread>>>(w.received);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  const std::lock_guard<std::mutex> lock(print_mutex);
  std::printf("thread %d: clusters of %d (at most %d), %d at once\n", w.index, kClusterSize,
              largest, clusters);
}

static void report(const char* what, cudaError_t got, cudaError_t expected) {
  std::printf("  %s: %s, expected %s\n", what, cudaGetErrorName(got), cudaGetErrorName(expected));
}

// None of these failures is sticky: each is read, cleared, and the device goes on working.
static void fail_on_purpose(Worker& w, int device_count) {
  std::printf("calls that must fail:\n");
  blend<<<1, 4096, 0, w.stream>>>(w.block, w.received, 0.5F);
  report("4096 threads a block, peek", cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
  cudaError_t elsewhere = cudaErrorUnknown;
  std::thread([&] { elsewhere = cudaGetLastError(); }).join();
  report("last error of another thread", elsewhere, cudaSuccess);
  report("last error of this thread", cudaGetLastError(), cudaErrorInvalidConfiguration);
  report("last error once more", cudaGetLastError(), cudaSuccess);

  void* too_much = nullptr;
  report("cudaMalloc of 1 EiB", cudaMalloc(&too_much, size_t{1} << 60), cudaErrorMemoryAllocation);
  report("its last error", cudaGetLastError(), cudaErrorMemoryAllocation);
  report("cudaSetDevice beyond the last", cudaSetDevice(device_count), cudaErrorInvalidDevice);
  cudaGetLastError();
  report("cudaMemcpy of a wrong kind",
         cudaMemcpy(w.block, w.received, kBytes, static_cast<cudaMemcpyKind>(99)),
         cudaErrorInvalidMemcpyDirection);
  cudaGetLastError();
  cudaEvent_t never_timed = w.block_ready;
  float elapsed_ms = 0;
  report("cudaEventElapsedTime of untimed events",
         cudaEventElapsedTime(&elapsed_ms, never_timed, never_timed),
         cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  CHECK(cudaSetDevice(w.device));
  blend<<<kElements / kThreads, kThreads, 0, w.stream>>>(w.block, w.received, 0.5F);
  report("a good launch after them", cudaGetLastError(), cudaSuccess);
  CHECK(cudaStreamSynchronize(w.stream));
}

static void tear_down(Worker& w) {
  CHECK(cudaSetDevice(w.device));
  CHECK(cudaHostUnregister(w.storage.data()));
  CHECK(cudaFree(w.block));
  CHECK(cudaFree(w.received));
  CHECK(cudaFree(w.sums));
  CHECK(cudaEventDestroy(w.block_ready));
  CHECK(cudaEventDestroy(w.block_read));
  CHECK(cudaStreamDestroy(w.stream));
}

static int parse_arguments(int argc, char** argv, int iterations) {
  const char* usage = "usage: multi_gpu_threads [--iterations N]   N rounds, 1..100000\n";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--help") == 0) {
      std::printf("%s", usage);
      std::exit(0);
    }
    char* end = nullptr;
    const bool has_value = std::strcmp(argv[i], "--iterations") == 0 && i + 1 < argc;
    const long value = has_value ? std::strtol(argv[++i], &end, 10) : 0;
    if (!has_value || *end != '\0' || value < 1 || value > 100000) {
      std::fprintf(stderr, "not understood: %s\n%s", argv[i], usage);
      std::exit(2);
    }
    iterations = static_cast<int>(value);
  }
  return iterations;
}

int main(int argc, char** argv) {
  const int rounds = parse_arguments(argc, argv, 25);
  int device_count = 0;
  CHECK(cudaGetDeviceCount(&device_count));
  print_versions();
  prepare_devices(device_count);

  const int thread_count = std::clamp(device_count, 3, 8);
  std::vector<Worker> workers(thread_count);
  for (int i = 0; i < thread_count; ++i) {
    workers[i].index = i;
    workers[i].device = i % device_count;
  }
  for (int i = 0; i < thread_count; ++i) {
    const int owner = workers[(i + 1) % thread_count].device;
    if (owner != workers[i].device) {
      enable_peer_access(workers[i].device, owner);
    }
  }
  Barrier barrier(thread_count);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      set_up(workers[i]);
      describe(workers[i]);
      barrier.wait();  // the neighbours' blocks and events exist from here on
      exchange(workers[i], workers[(i + 1) % thread_count],
               workers[(i + thread_count - 1) % thread_count], barrier, rounds);
      launch_clusters(workers[i]);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  CHECK(cudaSetDevice(workers[0].device));
  fail_on_purpose(workers[0], device_count);
  for (Worker& worker : workers) {
    tear_down(worker);
  }
  // Every thread is gone and every handle is returned, so nobody can miss the contexts.
  for (int device = 0; device < device_count; ++device) {
    CHECK(cudaSetDevice(device));
    CHECK(cudaDeviceReset());
  }
  std::printf("done\n");
  return 0;
}
