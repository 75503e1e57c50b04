// Device query, then a double-buffered upload -> kernel -> download pipeline over several streams,
// then one short section for each further way to launch a kernel or to move memory.
//
// Nothing here branches on a value that a kernel computed: sums are printed, never judged.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

static void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) {
    return;
  }
  std::fprintf(stderr, "%s failed at %s:%d: %s (%s)\n", call, file, line, cudaGetErrorString(error),
               cudaGetErrorName(error));
  std::exit(1);
}

// A query's "not ready" is an answer, not a failure.
#define IS_DONE(...) is_done((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

static bool is_done(cudaError_t answer, const char* call, const char* file, int line) {
  if (answer == cudaErrorNotReady) {
    return false;
  }
  check(answer, call, file, line);
  return true;
}

constexpr int kThreads = 256;
constexpr int kChunkElements = 1 << 18;
constexpr size_t kChunkBytes = kChunkElements * sizeof(float);
constexpr int kSlots = 2;
constexpr int kTaps = 5;

static int blocks_for(int elements) {
  return (elements + kThreads - 1) / kThreads;
}

__constant__ float filter_taps[kTaps];
__device__ unsigned long long processed_elements;

namespace filter {

struct Square {
  template <typename T>
  __device__ T operator()(T value) const {
    return value * value;
  }
};

template <typename T>
struct Offset {
  T amount;
  __device__ T operator()(T value) const { return value + amount; }
};

template <typename T, int Taps>
__global__ void convolve(const T* in, T* out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) {
    return;
  }
  T sum = 0;
#pragma unroll
  for (int tap = 0; tap < Taps; ++tap) {
    const int at = min(max(i + tap - Taps / 2, 0), count - 1);
    sum += static_cast<T>(filter_taps[tap]) * in[at];
  }
  out[i] = sum;
  if (threadIdx.x == 0) {
    atomicAdd(&processed_elements, static_cast<unsigned long long>(blockDim.x));
  }
}

template <typename T, typename Operation>
__global__ void transform(T* values, int count, Operation operation) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    values[i] = operation(values[i]);
  }
}

}  // namespace filter

// Two kernels of one name: their mangled names differ in the argument list only.
__global__ void scale(float* values, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] *= factor;
  }
}

__global__ void scale(double* values, double factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    values[i] *= factor;
  }
}

__global__ void tile_reverse(const float* in, float* out, int tile) {
  extern __shared__ float staged[];
  const size_t base = static_cast<size_t>(blockIdx.x) * tile;
  for (int i = threadIdx.x; i < tile; i += blockDim.x) {
    staged[i] = in[base + i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < tile; i += blockDim.x) {
    out[base + i] = staged[tile - 1 - i];
  }
}

__global__ void normalize(float* values, float* total, int count) {
  cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  float part = 0;
  for (int i = static_cast<int>(grid.thread_rank()); i < count; i += gridDim.x * blockDim.x) {
    part += values[i];
  }
  atomicAdd(total, part);
  grid.sync();
  for (int i = static_cast<int>(grid.thread_rank()); i < count; i += gridDim.x * blockDim.x) {
    values[i] /= *total;
  }
}

__global__ void brighten(unsigned char* image, size_t pitch, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    unsigned char* pixel = image + y * pitch + x;
    *pixel = static_cast<unsigned char>(min(*pixel + 16, 255));
  }
}

static void print_devices(int device_count) {
  int driver_version = 0;
  int runtime_version = 0;
  CHECK(cudaDriverGetVersion(&driver_version));
  CHECK(cudaRuntimeGetVersion(&runtime_version));
  std::printf("driver %d, runtime %d, %d device(s)\n", driver_version, runtime_version,
              device_count);
  for (int device = 0; device < device_count; ++device) {
    CHECK(cudaSetDevice(device));
    cudaDeviceProp properties{};
    CHECK(cudaGetDeviceProperties(&properties, device));
    char bus_id[32] = {};
    CHECK(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, device));
    int clock_khz = 0;
    int copy_engines = 0;
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device));
    CHECK(cudaDeviceGetAttribute(&copy_engines, cudaDevAttrAsyncEngineCount, device));
    size_t free_bytes = 0;
    size_t total_bytes = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    size_t heap_bytes = 0;
    CHECK(cudaDeviceGetLimit(&heap_bytes, cudaLimitMallocHeapSize));
    std::printf("  %d: %s (%s), compute %d.%d, %d SMs, %d kHz, %d copy engines\n", device,
                properties.name, bus_id, properties.major, properties.minor,
                properties.multiProcessorCount, clock_khz, copy_engines);
    std::printf("     memory %zu of %zu MiB free, device heap %zu KiB\n", free_bytes >> 20,
                total_bytes >> 20, heap_bytes >> 10);
  }
  cudaDeviceProp wanted{};
  wanted.major = 9;
  int chosen = 0;
  CHECK(cudaChooseDevice(&chosen, &wanted));
  CHECK(cudaSetDevice(0));
  int current = -1;
  CHECK(cudaGetDevice(&current));
  std::printf("nearest to compute 9.0 is device %d; working on device %d\n", chosen, current);
}

static void print_kernels() {
  using ScaleFloat = void (*)(float*, float, int);
  using ScaleDouble = void (*)(double*, double, int);
  const void* kernels[] = {
      reinterpret_cast<const void*>(static_cast<ScaleFloat>(scale)),
      reinterpret_cast<const void*>(static_cast<ScaleDouble>(scale)),
      reinterpret_cast<const void*>(&filter::convolve<float, kTaps>),
  };
  for (const void* kernel : kernels) {
    cudaFuncAttributes attributes{};
    const char* name = nullptr;
    CHECK(cudaFuncGetAttributes(&attributes, kernel));
    CHECK(cudaFuncGetName(&name, kernel));
    std::printf("kernel %s: %d registers, at most %d threads a block\n", name, attributes.numRegs,
                attributes.maxThreadsPerBlock);
  }
}

struct Slot {
  float* host_in = nullptr;
  float* host_out = nullptr;
  float* device_in = nullptr;
  float* device_out = nullptr;
  cudaEvent_t uploaded = nullptr;
  cudaEvent_t computed = nullptr;
  cudaEvent_t downloaded = nullptr;
};

static Slot make_slot() {
  Slot slot;
  // Write-combined suits a buffer that the host only writes.
  CHECK(cudaHostAlloc(&slot.host_in, kChunkBytes, cudaHostAllocWriteCombined));
  CHECK(cudaMallocHost(&slot.host_out, kChunkBytes));
  CHECK(cudaMalloc(&slot.device_in, kChunkBytes));
  CHECK(cudaMalloc(&slot.device_out, kChunkBytes));
  CHECK(cudaEventCreateWithFlags(&slot.uploaded, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&slot.computed, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&slot.downloaded, cudaEventDisableTiming | cudaEventBlockingSync));
  return slot;
}

static void destroy_slot(const Slot& slot) {
  CHECK(cudaEventDestroy(slot.uploaded));
  CHECK(cudaEventDestroy(slot.computed));
  CHECK(cudaEventDestroy(slot.downloaded));
  CHECK(cudaFree(slot.device_in));
  CHECK(cudaFree(slot.device_out));
  CHECK(cudaFreeHost(slot.host_in));
  CHECK(cudaFreeHost(slot.host_out));
}

static void CUDART_CB count_chunk(void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
}

static void run_pipeline(int chunks) {
  int lowest = 0;
  int highest = 0;
  CHECK(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  cudaStream_t upload = nullptr;
  cudaStream_t compute = nullptr;
  cudaStream_t download = nullptr;
  CHECK(cudaStreamCreateWithFlags(&upload, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&compute, cudaStreamNonBlocking, highest));
  CHECK(cudaStreamCreateWithPriority(&download, cudaStreamNonBlocking, lowest));
  int priority = 0;
  unsigned int flags = 0;
  CHECK(cudaStreamGetPriority(compute, &priority));
  CHECK(cudaStreamGetFlags(compute, &flags));
  std::printf("stream priorities %d..%d, compute stream has %d (flags %u)\n", lowest, highest,
              priority, flags);

  const float taps[kTaps] = {0.0625F, 0.25F, 0.375F, 0.25F, 0.0625F};
  CHECK(cudaMemcpyToSymbol(filter_taps, taps, sizeof taps));
  const unsigned long long zero = 0;
  CHECK(cudaMemcpyToSymbolAsync(processed_elements, &zero, sizeof zero, 0, cudaMemcpyHostToDevice,
                                compute));

  Slot slots[kSlots];
  std::generate(std::begin(slots), std::end(slots), make_slot);
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  std::atomic<int> chunks_home{0};
  long polls = 0;

  CHECK(cudaEventRecord(begin, upload));
  for (int chunk = 0; chunk < chunks; ++chunk) {
    Slot& slot = slots[chunk % kSlots];
    // Both ways to learn that the slot's last round is over: poll for one, sleep for the other.
    if (chunk % 2 == 0) {
      while (!IS_DONE(cudaEventQuery(slot.downloaded))) {
        ++polls;
        std::this_thread::yield();
      }
    } else {
      CHECK(cudaEventSynchronize(slot.downloaded));
    }
    std::fill_n(slot.host_in, kChunkElements, static_cast<float>(chunk + 1));

    CHECK(cudaStreamWaitEvent(upload, slot.computed));
    CHECK(
        cudaMemcpyAsync(slot.device_in, slot.host_in, kChunkBytes, cudaMemcpyHostToDevice, upload));
    CHECK(cudaEventRecord(slot.uploaded, upload));

    CHECK(cudaStreamWaitEvent(compute, slot.uploaded, cudaEventWaitDefault));
    CHECK(cudaStreamWaitEvent(compute, slot.downloaded));
    filter::convolve<float, kTaps><<<blocks_for(kChunkElements), kThreads, 0, compute>>>(
        slot.device_in, slot.device_out, kChunkElements);
    CHECK(cudaGetLastError());
    if (chunk % 3 == 0) {
      filter::transform<<<64, kThreads, 0, compute>>>(slot.device_out, kChunkElements,
                                                      filter::Square{});
    } else {
      filter::transform<<<64, kThreads, 0, compute>>>(slot.device_out, kChunkElements,
                                                      filter::Offset<float>{1.5F});
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecordWithFlags(slot.computed, compute, cudaEventRecordDefault));

    CHECK(cudaStreamWaitEvent(download, slot.computed));
    CHECK(cudaMemcpyAsync(slot.host_out, slot.device_out, kChunkBytes, cudaMemcpyDeviceToHost,
                          download));
    CHECK(cudaEventRecord(slot.downloaded, download));
    CHECK(cudaLaunchHostFunc(download, count_chunk, &chunks_home));
  }
  CHECK(cudaEventRecord(end, download));
  while (!IS_DONE(cudaStreamQuery(download))) {
    ++polls;
    std::this_thread::yield();
  }
  float elapsed_ms = 0;
  CHECK(cudaEventElapsedTime(&elapsed_ms, begin, end));
  unsigned long long processed = 0;
  CHECK(cudaMemcpyFromSymbol(&processed, processed_elements, sizeof processed));
  std::printf("pipeline: %d chunks of %zu KiB in %.3f ms, %d came home, %s\n", chunks,
              kChunkBytes >> 10, elapsed_ms, chunks_home.load(),
              polls > 0 ? "the host had to poll" : "the host never waited");
  std::printf("pipeline: device counted %llu elements\n", processed);

  std::for_each(std::begin(slots), std::end(slots), destroy_slot);
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  CHECK(cudaStreamDestroy(upload));
  CHECK(cudaStreamDestroy(compute));
  CHECK(cudaStreamDestroy(download));
}

static void run_pitched_image() {
  constexpr int kWidth = 1000;  // not a multiple of any alignment, so the pitch is wider
  constexpr int kHeight = 600;
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreate(&stream));
  std::vector<unsigned char> pageable(kWidth * kHeight, 100);
  unsigned char* image = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&image, &pitch, kWidth, kHeight));
  CHECK(cudaMemset2DAsync(image, pitch, 0, kWidth, kHeight, stream));
  CHECK(cudaMemcpy2DAsync(image, pitch, pageable.data(), kWidth, kWidth, kHeight,
                          cudaMemcpyHostToDevice, stream));
  const dim3 block(32, 8);
  const dim3 grid((kWidth + block.x - 1) / block.x, (kHeight + block.y - 1) / block.y);
  brighten<<<grid, block, 0, stream>>>(image, pitch, kWidth, kHeight);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy2DAsync(pageable.data(), kWidth, image, pitch, kWidth, kHeight,
                          cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  std::printf("image: %dx%d, pitch %zu, first pixel %d\n", kWidth, kHeight, pitch, pageable[0]);
  CHECK(cudaFree(image));
  CHECK(cudaStreamDestroy(stream));
}

static void run_large_shared_memory() {
  int optin_bytes = 0;
  CHECK(cudaDeviceGetAttribute(&optin_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const int tile_bytes = std::min(optin_bytes, 96 * 1024);
  const int tile = tile_bytes / static_cast<int>(sizeof(float));
  CHECK(
      cudaFuncSetAttribute(tile_reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, tile_bytes));
  CHECK(cudaFuncSetAttribute(tile_reverse, cudaFuncAttributePreferredSharedMemoryCarveout,
                             cudaSharedmemCarveoutMaxShared));
  int resident = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, tile_reverse, kThreads,
                                                      static_cast<size_t>(tile_bytes)));
  size_t left_bytes = 0;
  CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&left_bytes, tile_reverse, 1, kThreads));

  constexpr int kTiles = 32;
  const size_t bytes = static_cast<size_t>(tile_bytes) * kTiles;
  float* in = nullptr;
  float* out = nullptr;
  CHECK(cudaMalloc(&in, bytes));
  CHECK(cudaMalloc(&out, bytes));
  CHECK(cudaMemset(in, 0, bytes));
  tile_reverse<<<kTiles, kThreads, tile_bytes>>>(in, out, tile);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(in, out, bytes, cudaMemcpyDeviceToDevice));
  CHECK(cudaDeviceSynchronize());
  std::printf("shared memory: %d KiB a block, %d resident per SM, up to %zu KiB possible\n",
              tile_bytes >> 10, resident, left_bytes >> 10);
  CHECK(cudaFree(in));
  CHECK(cudaFree(out));
}

static void run_cooperative() {
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 0));
  if (properties.cooperativeLaunch == 0) {
    std::printf("cooperative launch: not offered by this device\n");
    return;
  }
  int smallest_grid = 0;
  int block = 0;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&smallest_grid, &block, normalize));
  int per_sm = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, normalize, kThreads, 0));
  // Every block of a cooperative grid must be resident at once.
  const int grid = properties.multiProcessorCount * std::max(per_sm, 1);
  float* values = nullptr;
  float* total = nullptr;
  CHECK(cudaMalloc(&values, kChunkBytes));
  CHECK(cudaMalloc(&total, sizeof(float)));
  CHECK(cudaMemset(values, 0x3f, kChunkBytes));
  CHECK(cudaMemset(total, 0, sizeof(float)));
  int count = kChunkElements;
  void* arguments[] = {&values, &total, &count};
  CHECK(cudaLaunchCooperativeKernel(normalize, dim3(grid), dim3(kThreads), arguments));
  float sum = 0;
  CHECK(cudaMemcpy(&sum, total, sizeof sum, cudaMemcpyDeviceToHost));
  std::printf("cooperative launch: %d blocks (suggested block %d), sum %g\n", grid, block, sum);
  CHECK(cudaFree(values));
  CHECK(cudaFree(total));
}

static void run_managed() {
  int concurrent = 0;
  CHECK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
  double* values = nullptr;
  constexpr int kCount = 1 << 16;
  constexpr size_t kBytes = kCount * sizeof(double);
  CHECK(cudaMallocManaged(&values, kBytes, cudaMemAttachGlobal));
  std::iota(values, values + kCount, 0.0);
  cudaMemLocation on_device{};
  on_device.type = cudaMemLocationTypeDevice;
  on_device.id = 0;
  cudaMemLocation on_host{};
  on_host.type = cudaMemLocationTypeHost;
  if (concurrent != 0) {
    CHECK(cudaMemAdvise(values, kBytes, cudaMemAdviseSetPreferredLocation, on_device));
    CHECK(cudaMemPrefetchAsync(values, kBytes, on_device, 0, nullptr));
  }
  scale<<<blocks_for(kCount), kThreads>>>(values, 2.0, kCount);
  CHECK(cudaGetLastError());
  if (concurrent != 0) {
    CHECK(cudaMemPrefetchAsync(values, kBytes, on_host, 0, nullptr));
  }
  CHECK(cudaDeviceSynchronize());
  std::printf("managed memory: last value %g, prefetch %s\n", values[kCount - 1],
              concurrent != 0 ? "used" : "not offered");
  CHECK(cudaFree(values));
}

// A blocking stream waits for the legacy default stream and makes it wait; a non-blocking one
// takes no part in that. The mapped buffer is read by the kernel without any copy.
static void run_legacy_stream() {
  cudaStream_t blocking = nullptr;
  cudaStream_t free_running = nullptr;
  CHECK(cudaStreamCreate(&blocking));
  CHECK(cudaStreamCreateWithFlags(&free_running, cudaStreamNonBlocking));
  float* mapped = nullptr;
  float* mapped_on_device = nullptr;
  CHECK(cudaHostAlloc(&mapped, kChunkBytes, cudaHostAllocMapped));
  std::memset(mapped, 0, kChunkBytes);
  CHECK(cudaHostGetDevicePointer(&mapped_on_device, mapped, 0));
  float* values = nullptr;
  CHECK(cudaMalloc(&values, kChunkBytes));
  CHECK(cudaMemsetAsync(values, 0, kChunkBytes, blocking));
  const int blocks = blocks_for(kChunkElements);
  scale<<<blocks, kThreads, 0, blocking>>>(values, 2.0F, kChunkElements);
  scale<<<blocks, kThreads, 0, free_running>>>(mapped_on_device, 3.0F, kChunkElements);
  scale<<<blocks, kThreads>>>(values, 4.0F, kChunkElements);
  scale<<<blocks, kThreads, 0, cudaStreamLegacy>>>(values, 5.0F, kChunkElements);
  scale<<<blocks, kThreads, 0, blocking>>>(values, 6.0F, kChunkElements);
  CHECK(cudaGetLastError());
  std::vector<float> pageable(kChunkElements);
  CHECK(cudaMemcpy(pageable.data(), values, kChunkBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaStreamSynchronize(free_running));
  std::printf("legacy stream: 4 launches in order, 1 beside them, values %g and %g\n", pageable[0],
              mapped[0]);
  CHECK(cudaFree(values));
  CHECK(cudaFreeHost(mapped));
  CHECK(cudaStreamDestroy(blocking));
  CHECK(cudaStreamDestroy(free_running));
}

// Returns the number of iterations; leaves the program for --help and for wrong usage.
static int parse_arguments(int argc, char** argv, int iterations) {
  const char* usage = "usage: stream_pipeline [--iterations N]   N chunks, 1..100000\n";
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
  const int chunks = parse_arguments(argc, argv, 40);
  int device_count = 0;
  CHECK(cudaGetDeviceCount(&device_count));
  print_devices(device_count);
  print_kernels();
  run_pipeline(chunks);
  run_pitched_image();
  run_large_shared_memory();
  run_cooperative();
  run_managed();
  run_legacy_stream();
  CHECK(cudaDeviceSynchronize());
  std::printf("done\n");
  return 0;
}
