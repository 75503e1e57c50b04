// Programs for the tests of the simulated GPU, one a subcommand. They check what a program can see
// and return 0; times are checked from outside.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define REQUIRE(condition)                                         \
  do {                                                             \
    if (!(condition)) {                                            \
      std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                                \
    }                                                              \
  } while (0)
#define OK(call) REQUIRE((call) == cudaSuccess)

__global__ void short_kernel(int) {}
__global__ void long_kernel(int) {}
__device__ float table[16];
__managed__ int shared_number;

namespace {

cudaStream_t make_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, flags));
  return stream;
}

void chain() {
  cudaStream_t stream = make_stream();
  for (int i = 0; i < 3; ++i) {
    long_kernel<<<1, 32, 0, stream>>>(i);
  }
  OK(cudaStreamSynchronize(stream));
}

void two_streams() {
  cudaStream_t first = make_stream();
  cudaStream_t second = make_stream();
  cudaEvent_t event = nullptr;
  OK(cudaEventCreate(&event));
  long_kernel<<<1, 32, 0, first>>>(0);
  OK(cudaEventRecord(event, first));
  long_kernel<<<1, 32, 0, first>>>(0);
  OK(cudaStreamWaitEvent(second, event));
  short_kernel<<<1, 32, 0, second>>>(0);
  OK(cudaDeviceSynchronize());
}

void null_stream() {
  cudaStream_t blocking = make_stream(cudaStreamDefault);
  cudaStream_t free = make_stream(cudaStreamNonBlocking);
  long_kernel<<<1, 32, 0, blocking>>>(0);
  short_kernel<<<1, 32>>>(0);               // after the blocking stream's work
  short_kernel<<<1, 32, 0, free>>>(0);      // waits for nobody
  short_kernel<<<1, 32, 0, blocking>>>(0);  // after the NULL stream's work
  OK(cudaDeviceSynchronize());
}

void diamond() {
  cudaStream_t left = make_stream();
  cudaStream_t right = make_stream();
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  OK(cudaEventCreate(&fork));
  OK(cudaEventCreate(&join));
  OK(cudaStreamBeginCapture(left, cudaStreamCaptureModeGlobal));
  short_kernel<<<1, 32, 0, left>>>(0);
  OK(cudaEventRecord(fork, left));
  OK(cudaStreamWaitEvent(right, fork));
  long_kernel<<<1, 32, 0, right>>>(0);
  short_kernel<<<1, 32, 0, left>>>(0);
  OK(cudaEventRecord(join, right));
  OK(cudaStreamWaitEvent(left, join));
  short_kernel<<<1, 32, 0, left>>>(0);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(left, &graph));
  std::size_t nodes = 0;
  std::size_t edges = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  REQUIRE(nodes == 4 && edges == 4);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, left));
  OK(cudaGraphLaunch(exec, left));
  OK(cudaStreamSynchronize(left));
}

void copies() {
  std::vector<char> host(1 << 20);
  for (std::size_t i = 0; i < host.size(); ++i) {
    host[i] = static_cast<char>(i * 7);
  }
  char* on_first = nullptr;
  char* on_second = nullptr;
  char* pinned = nullptr;
  OK(cudaMalloc(&on_first, host.size()));
  REQUIRE(on_first[host.size() - 1] == 0);
  OK(cudaMallocHost(&pinned, host.size()));
  OK(cudaMemcpy(on_first, host.data(), host.size(), cudaMemcpyHostToDevice));
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&on_second, host.size()));
  OK(cudaMemcpyPeer(on_second, 1, on_first, 0, host.size()));
  OK(cudaMemcpyAsync(pinned, on_second, host.size(), cudaMemcpyDeviceToHost, nullptr));
  OK(cudaStreamSynchronize(nullptr));
  REQUIRE(std::memcmp(pinned, host.data(), host.size()) == 0);
  OK(cudaSetDevice(0));
  // 2D: a column of 3 bytes from rows of 10.
  OK(cudaMemset(on_first, 0, 100));
  OK(cudaMemcpy2D(on_first, 3, host.data(), 10, 3, 4, cudaMemcpyHostToDevice));
  REQUIRE(std::memcmp(on_first + 9, host.data() + 30, 3) == 0 && on_first[12] == 0);
  float values[16] = {1, 2, 3};
  float back[2] = {};
  OK(cudaMemcpyToSymbol(table, values, sizeof values));
  OK(cudaMemcpyFromSymbol(back, table, sizeof back, sizeof(float)));
  REQUIRE(back[0] == 2 && back[1] == 3);
  shared_number = 4;
  void* address = nullptr;
  OK(cudaGetSymbolAddress(&address, shared_number));
  REQUIRE(*static_cast<int*>(address) == 4);
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, on_second + 5));
  REQUIRE(attributes.type == cudaMemoryTypeDevice && attributes.device == 1);
  OK(cudaPointerGetAttributes(&attributes, host.data()));
  REQUIRE(attributes.type == cudaMemoryTypeUnregistered);
  OK(cudaFree(on_first));
  OK(cudaFree(on_second));
  OK(cudaFreeHost(pinned));
}

void async_memory() {
  cudaStream_t stream = make_stream();
  void* memory = nullptr;
  OK(cudaMallocAsync(&memory, 1000, stream));
  OK(cudaMemsetAsync(memory, 5, 1000, stream));
  OK(cudaFreeAsync(memory, stream));
  OK(cudaStreamSynchronize(stream));
  REQUIRE(cudaFreeAsync(memory, stream) == cudaErrorInvalidValue);
  cudaMemPool_t pool = nullptr;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  unsigned long long used = 1;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  REQUIRE(used == 0);
  // Captured, it belongs to the graph: nothing of it comes from the pool, and it stays until
  // trimmed.
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaMallocAsync(&memory, 1 << 20, stream));
  OK(cudaFreeAsync(memory, stream));
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemHigh, &used));
  REQUIRE(used < 1 << 20);
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
  REQUIRE(used == 1 << 20);
  OK(cudaDeviceGraphMemTrim(0));
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &used));
  REQUIRE(used == 0);
}

/// A graph of one kernel goes on being named by the nodes it was made from, also after an update.
void graph_updates() {
  cudaStream_t stream = make_stream();
  const auto captured = [stream](cudaGraphNode_t* node) {
    cudaGraph_t graph = nullptr;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    short_kernel<<<1, 32, 0, stream>>>(0);
    OK(cudaStreamEndCapture(stream, &graph));
    std::size_t count = 1;
    OK(cudaGraphGetNodes(graph, node, &count));
    return graph;
  };
  cudaGraphNode_t node = nullptr;
  cudaGraphNode_t other_node = nullptr;
  cudaGraph_t graph = captured(&node);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  cudaGraph_t other = captured(&other_node);
  cudaGraphExecUpdateResultInfo info{};
  OK(cudaGraphExecUpdate(exec, other, &info));
  OK(cudaGraphDestroy(other));
  cudaKernelNodeParams parameters{};
  OK(cudaGraphKernelNodeGetParams(node, &parameters));
  parameters.gridDim = dim3(5);
  OK(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
  REQUIRE(cudaGraphExecKernelNodeSetParams(exec, other_node, &parameters) == cudaErrorInvalidValue);
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
}

/// {fill, upload} -> kernel -> child (one kernel) -> event -> {host function, release} -> empty.
void graph_of_any_nodes() {
  cudaStream_t stream = make_stream();
  cudaEvent_t event = nullptr;
  OK(cudaEventCreate(&event));
  cudaGraph_t graph = nullptr;
  cudaGraph_t child = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphCreate(&child, 0));
  static char host[64] = "from the host";
  static bool called = false;
  char* memory = nullptr;
  OK(cudaMalloc(&memory, sizeof host));
  std::vector<cudaGraphNode_t> last;
  const auto add = [](cudaGraph_t to, const std::vector<cudaGraphNode_t>& from,
                      cudaGraphNodeParams& parameters) {
    cudaGraphNode_t node = nullptr;
    OK(cudaGraphAddNode(&node, to, from.data(), nullptr, from.size(), &parameters));
    return node;
  };
  cudaGraphNodeParams allocation{};
  allocation.type = cudaGraphNodeTypeMemAlloc;
  allocation.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
  allocation.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
  allocation.alloc.bytesize = 256;
  const cudaGraphNode_t allocate = add(graph, {}, allocation);
  REQUIRE(allocation.alloc.dptr != nullptr);
  cudaGraphNodeParams fill{};
  fill.type = cudaGraphNodeTypeMemset;
  fill.memset.dst = allocation.alloc.dptr;
  fill.memset.elementSize = 4;
  fill.memset.width = 64;
  fill.memset.height = 1;
  cudaGraphNodeParams upload{};
  upload.type = cudaGraphNodeTypeMemcpy;
  upload.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(host, sizeof host, sizeof host, 1);
  upload.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(memory, sizeof host, sizeof host, 1);
  upload.memcpy.copyParams.extent = make_cudaExtent(sizeof host, 1, 1);
  upload.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
  last = {add(graph, {allocate}, fill), add(graph, {}, upload)};
  int argument = 0;
  void* arguments[] = {&argument};
  cudaGraphNodeParams kernel{};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(short_kernel);
  kernel.kernel.gridDim = dim3(1);
  kernel.kernel.blockDim = dim3(32);
  kernel.kernel.kernelParams = arguments;
  const cudaGraphNode_t kernel_node = add(graph, last, kernel);
  add(child, {}, kernel);
  cudaGraphNodeParams whole{};
  whole.type = cudaGraphNodeTypeGraph;
  whole.graph.graph = child;
  last = {add(graph, {kernel_node}, whole)};
  cudaGraphNodeParams record{};
  record.type = cudaGraphNodeTypeEventRecord;
  record.eventRecord.event = event;
  last = {add(graph, last, record)};
  cudaGraphNodeParams function{};
  function.type = cudaGraphNodeTypeHost;
  function.host.fn = [](void*) { called = true; };
  cudaGraphNodeParams release{};
  release.type = cudaGraphNodeTypeMemFree;
  release.free.dptr = allocation.alloc.dptr;
  last = {add(graph, last, function), add(graph, last, release)};
  cudaGraphNodeParams empty{};
  empty.type = cudaGraphNodeTypeEmpty;
  add(graph, last, empty);
  cudaGraphNodeParams unknown{};
  unknown.type = cudaGraphNodeTypeExtSemaphoreWait;
  cudaGraphNode_t none = nullptr;
  REQUIRE(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &unknown) == cudaErrorNotSupported);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  kernel.kernel.gridDim = dim3(7);
  OK(cudaGraphExecNodeSetParams(exec, kernel_node, &kernel));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  REQUIRE(called && std::strcmp(memory, host) == 0);
}

void clusters() {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {4, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(8);
  config.blockDim = dim3(1024);
  int answer = 0;
  REQUIRE(cudaOccupancyMaxActiveClusters(&answer, short_kernel, &config) ==
          cudaErrorInvalidClusterSize);
  config.attrs = &attribute;
  config.numAttrs = 1;
  int processors = 0;
  OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  OK(cudaOccupancyMaxActiveClusters(&answer, short_kernel, &config));
  REQUIRE(answer == processors * 2 / 4);  // two blocks of 1024 threads on each
  OK(cudaOccupancyMaxPotentialClusterSize(&answer, short_kernel, &config));
  REQUIRE(answer == 8);
  OK(cudaFuncSetAttribute(short_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  OK(cudaOccupancyMaxPotentialClusterSize(&answer, short_kernel, &config));
  REQUIRE(answer == 16);
}

/// The same bytes to another device: through the host, then, with access to it, directly.
void peers() {
  constexpr std::size_t kBytes = 1 << 20;
  char* first = nullptr;
  char* second = nullptr;
  OK(cudaMalloc(&first, kBytes));
  OK(cudaMemset(first, 3, kBytes));
  OK(cudaSetDevice(1));
  OK(cudaMalloc(&second, kBytes));
  OK(cudaMemcpyPeer(second, 1, first, 0, kBytes));
  OK(cudaDeviceEnablePeerAccess(0, 0));
  OK(cudaMemcpyPeer(second, 1, first, 0, kBytes));
  cudaMemcpy3DPeerParms box{};
  box.srcPtr = make_cudaPitchedPtr(first, 1024, 1024, 1024);
  box.dstPtr = make_cudaPitchedPtr(second, 1024, 1024, 1024);
  box.dstDevice = 1;
  box.dstPos = make_cudaPos(1, 2, 0);
  box.extent = make_cudaExtent(3, 4, 1);
  OK(cudaMemset(second, 0, kBytes));
  OK(cudaMemcpy3DPeer(&box));
  OK(cudaDeviceSynchronize());
  REQUIRE(second[2 * 1024] == 0 && second[2 * 1024 + 1] == 3 && second[5 * 1024 + 3] == 3 &&
          second[5 * 1024 + 4] == 0 && second[6 * 1024 + 1] == 0);
}

void batch_of_copies() {
  cudaStream_t stream = make_stream();
  char* device = nullptr;
  char host[] = "abcdef";
  char back[sizeof host] = {};
  OK(cudaMalloc(&device, sizeof host));
  void* targets[] = {device + 3, device};
  const void* sources[] = {host + 3, host};
  const std::size_t sizes[] = {4, 3};
  cudaMemcpyAttributes attributes{};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  std::size_t first = 0;
  REQUIRE(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, nullptr) ==
          cudaErrorInvalidValue);
  OK(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, stream));
  OK(cudaMemcpyAsync(back, device, sizeof host, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  REQUIRE(std::strcmp(back, host) == 0);
  first = 1;
  REQUIRE(cudaMemcpyBatchAsync(targets, sources, sizes, 2, &attributes, &first, 1, stream) ==
          cudaErrorInvalidValue);
}

void libraries() {
  cudaLibrary_t library = nullptr;
  cudaKernel_t kernel = nullptr;
  OK(cudaLibraryLoadData(&library, "any image", nullptr, nullptr, 0, nullptr, nullptr, 0));
  OK(cudaLibraryGetKernel(&kernel, library, "long_kernel_of_a_library"));
  int argument = 0;
  void* arguments[] = {&argument};
  OK(cudaLaunchKernel(reinterpret_cast<void*>(kernel), dim3(1), dim3(32), arguments, 0, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaLibraryUnload(library));
  REQUIRE(cudaLibraryUnload(library) == cudaErrorInvalidResourceHandle);
}

/// Threads on one device that launch a kernel for the first time; one more when they are through.
void first_launches() {
  OK(cudaFree(nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      cudaStream_t stream = make_stream();
      short_kernel<<<1, 32, 0, stream>>>(0);
      short_kernel<<<1, 32, 0, stream>>>(1);
      OK(cudaStreamSynchronize(stream));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  short_kernel<<<1, 32>>>(2);
  OK(cudaDeviceSynchronize());
}

/// Threads that leave the process at the same time, in the middle of others' work.
void exits_of_many() {
  OK(cudaFree(nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      cudaStream_t stream = make_stream();
      for (int round = 0; round < 200 || i == 0; ++round) {
        short_kernel<<<1, 32, 0, stream>>>(round);
      }
      std::exit(5);
    });
  }
  threads[0].join();
}

/// exit() while threads go on making calls.
void exit_amid_work() {
  OK(cudaFree(nullptr));
  static std::atomic<int> busy{0};
  for (int i = 0; i < 4; ++i) {
    std::thread([] {
      cudaStream_t stream = make_stream();
      for (int round = 0;; ++round) {
        short_kernel<<<1, 32, 0, stream>>>(round);
        busy += round == 10 ? 1 : 0;
      }
    }).detach();
  }
  while (busy < 4) {
    std::this_thread::yield();
  }
  std::exit(6);
}

std::string g_order;

void host_functions() {
  cudaStream_t stream = make_stream();
  char* pinned = nullptr;
  char* device = nullptr;
  OK(cudaMallocHost(&pinned, 4));
  OK(cudaMalloc(&device, 4));
  const auto append = [](void* text) { g_order += static_cast<const char*>(text); };
  OK(cudaLaunchHostFunc(stream, append, const_cast<char*>("a")));
  OK(cudaLaunchHostFunc(
      stream, [](void* p) { std::memcpy(p, "xyz", 4); }, pinned));
  OK(cudaMemcpyAsync(device, pinned, 4, cudaMemcpyHostToDevice, stream));
  OK(cudaLaunchHostFunc(stream, append, device));
  OK(cudaStreamAddCallback(
      stream,
      [](cudaStream_t, cudaError_t, void*) {
        REQUIRE(cudaStreamSynchronize(nullptr) == cudaErrorNotPermitted);
        g_order += "!";
      },
      nullptr, 0));
  OK(cudaStreamSynchronize(stream));
  REQUIRE(g_order == "axyz!");
}

void errors() {
  void* memory = nullptr;
  int on_stack = 0;
  REQUIRE(cudaMalloc(&memory, 100ULL << 30U) == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaFree(&on_stack) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(&on_stack, &on_stack, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  REQUIRE(cudaSetDevice(99) == cudaErrorInvalidDevice);
  (void)cudaGetLastError();
  short_kernel<<<1, 2000>>>(0);
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidConfiguration);
  cudaEvent_t event = nullptr;
  OK(cudaEventCreate(&event));
  OK(cudaEventQuery(event));
  float milliseconds = 0;
  REQUIRE(cudaEventElapsedTime(&milliseconds, event, event) == cudaErrorInvalidResourceHandle);
  OK(cudaEventDestroy(event));
  REQUIRE(cudaEventDestroy(event) == cudaErrorInvalidResourceHandle);
  cudaStream_t stream = make_stream();
  long_kernel<<<1, 32, 0, stream>>>(0);
  REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  OK(cudaPeekAtLastError() == cudaErrorInvalidResourceHandle ? cudaSuccess : cudaErrorUnknown);
  // A capture does not survive what it forbids.
  cudaGraph_t graph = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  REQUIRE(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated &&
          graph == nullptr);
  cudaStream_t other = make_stream();
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaEventCreate(&event));
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event));
  short_kernel<<<1, 32, 0, other>>>(0);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  REQUIRE(cudaMallocArray(nullptr, nullptr, 1) == cudaErrorNotSupported);
}

void many_threads() {
  OK(cudaFree(nullptr));
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([i] {
      cudaStream_t streams[] = {make_stream(), make_stream()};
      cudaEvent_t event = nullptr;
      OK(cudaEventCreate(&event));
      char* memory = nullptr;
      OK(cudaMalloc(&memory, 4096));
      for (int round = 0; round < 50; ++round) {
        short_kernel<<<1 + (round + i) % 3, 32, 0, streams[0]>>>(round);
        OK(cudaEventRecord(event, streams[0]));
        OK(cudaStreamWaitEvent(streams[1], event));
        OK(cudaMemsetAsync(memory, round, 4096, streams[1]));
        if (round % 7 == 0) {
          OK(cudaStreamSynchronize(streams[1]));
        }
      }
      OK(cudaStreamSynchronize(streams[1]));
      OK(cudaStreamDestroy(streams[0]));
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  short_kernel<<<1, 32>>>(0);
  OK(cudaDeviceSynchronize());
}

void forks() {
  OK(cudaFree(nullptr));
  const pid_t child = fork();
  if (child == 0) {
    _exit(cudaFree(nullptr) == cudaErrorInitializationError ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  OK(cudaFree(nullptr));
}

void killed() {
  cudaStream_t stream = make_stream();
  short_kernel<<<1, 32, 0, stream>>>(0);
  OK(cudaStreamSynchronize(stream));
  raise(SIGKILL);
}

void devices() {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    OK(cudaGetDeviceProperties(&properties, i));
    std::printf("%s %d %d.%d\n", properties.name, properties.pciBusID, properties.major,
                properties.minor);
  }
}

/// Two allocations that move to the device and back, one that is fetched ahead.
void managed_memory() {
  char* first = nullptr;
  char* second = nullptr;
  char* ahead = nullptr;
  cudaStream_t stream = make_stream();
  OK(cudaMallocManaged(&first, 1 << 20));
  OK(cudaMallocManaged(&second, 4096));
  OK(cudaMallocManaged(&ahead, 8192));
  cudaMemLocation device{};
  device.type = cudaMemLocationTypeDevice;
  OK(cudaMemPrefetchAsync(ahead, 8192, device, 0, stream));
  for (int i = 0; i < 3; ++i) {
    long_kernel<<<1, 32, 0, stream>>>(i);
    OK(cudaStreamSynchronize(stream));
  }
  OK(cudaFree(first));
  OK(cudaFree(second));
  OK(cudaFree(ahead));
}

/// Every way to allocate, each freed again.
void memory_of_all_kinds() {
  char* memory = nullptr;
  cudaStream_t stream = make_stream();
  OK(cudaMalloc(&memory, 1000));
  OK(cudaFree(memory));
  OK(cudaMallocHost(&memory, 3000));
  OK(cudaFreeHost(memory));
  OK(cudaMallocAsync(&memory, 5000, stream));
  OK(cudaFreeAsync(memory, stream));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t pool = nullptr;
  OK(cudaMemPoolCreate(&pool, &properties));
  unsigned long long keep = 1 << 20;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  OK(cudaMallocFromPoolAsync(&memory, 7000, pool, stream));
  OK(cudaFreeAsync(memory, stream));
  OK(cudaMemPoolTrimTo(pool, 512));
  OK(cudaMemPoolDestroy(pool));
  OK(cudaStreamSynchronize(stream));
}

/// A graph launched by the runtime and the driver, through their twins for per-thread streams too.
void graph_launches_of_all_kinds() {
  cudaStream_t stream = make_stream();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  short_kernel<<<1, 32, 0, stream>>>(0);
  OK(cudaStreamEndCapture(stream, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  using Launch = int (*)(void*, void*);
  for (const char* name :
       {"cudaGraphLaunch", "cudaGraphLaunch_ptsz", "cuGraphLaunch", "cuGraphLaunch_ptsz"}) {
    const auto launch = reinterpret_cast<Launch>(dlsym(RTLD_DEFAULT, name));
    REQUIRE(launch != nullptr);
    REQUIRE(launch(exec, stream) == 0);
    REQUIRE(launch(exec, nullptr) == 0);
  }
  OK(cudaDeviceSynchronize());
}

/// A conditional node whose condition holds `value` at each launch, with a kernel in each body.
cudaGraphNode_t add_conditional(cudaGraph_t graph, cudaGraphNode_t after,
                                cudaGraphConditionalNodeType type, unsigned size, unsigned value,
                                cudaGraph_t* bodies) {
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  OK(cudaGraphConditionalHandleCreate(&parameters.conditional.handle, graph, value,
                                      cudaGraphCondAssignDefault));
  parameters.conditional.type = type;
  parameters.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddNode(&node, graph, &after, nullptr, after != nullptr ? 1 : 0, &parameters));
  for (unsigned i = 0; i < size; ++i) {
    bodies[i] = parameters.conditional.phGraph_out[i];
    cudaStream_t stream = make_stream();
    OK(cudaStreamBeginCaptureToGraph(stream, bodies[i], nullptr, nullptr, 0,
                                     cudaStreamCaptureModeGlobal));
    short_kernel<<<1 + i, 32, 0, stream>>>(0);
    OK(cudaStreamEndCapture(stream, &bodies[i]));
  }
  return node;
}

/// IF that holds, WHILE, IF that does not hold with an ELSE, SWITCH: each behind the one before.
void conditional_graph() {
  cudaStream_t stream = make_stream();
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraph_t bodies[3] = {};
  cudaGraphNode_t last = add_conditional(graph, nullptr, cudaGraphCondTypeIf, 1, 1, bodies);
  last = add_conditional(graph, last, cudaGraphCondTypeWhile, 1, 1, bodies);
  // Another conditional node within the WHILE's body.
  cudaGraph_t nested[1] = {};
  add_conditional(bodies[0], nullptr, cudaGraphCondTypeIf, 1, 7, nested);
  last = add_conditional(graph, last, cudaGraphCondTypeIf, 2, 0, bodies);
  last = add_conditional(graph, last, cudaGraphCondTypeSwitch, 3, 2, bodies);
  add_conditional(graph, last, cudaGraphCondTypeWhile, 1, 0, bodies);
  cudaGraphNodeParams wrong{};
  wrong.type = cudaGraphNodeTypeConditional;
  wrong.conditional.handle = 99;
  wrong.conditional.size = 1;
  cudaGraphNode_t none = nullptr;
  REQUIRE(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &wrong) == cudaErrorInvalidValue);
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

/// Executable graphs made, launched and destroyed in turn; prints whether handles come again.
void graphs_in_turn() {
  cudaStream_t stream = make_stream();
  cudaGraphExec_t before = nullptr;
  for (int i = 1; i <= 3; ++i) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int k = 0; k < i; ++k) {
      short_kernel<<<1, 32, 0, stream>>>(k);
    }
    OK(cudaStreamEndCapture(stream, &graph));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, stream));
    OK(cudaGraphExecDestroy(exec));
    std::printf("%s", exec == before ? "again " : "new ");
    before = exec;
  }
  OK(cudaDeviceSynchronize());
}

/// Kernels in a context that is gone before the program ends, and again in the next one.
void context_destroyed() {
  chain();
  OK(cudaDeviceReset());
  chain();
}

void print_address(const char* library, const char* name) {
  void* handle = dlopen(library, RTLD_NOW);
  std::printf("%s ", handle != nullptr && dlsym(handle, name) != nullptr ? "there" : "missing");
}

void cupti_symbols() {
  for (const char* name : {"cuptiSubscribe", "cuptiSubscribe_v2", "cuptiActivityFlushAll"}) {
    print_address("libcupti.so.13", name);
  }
  chain();
}

struct CuptiOf {
  void* handle;
  explicit CuptiOf(const char* path) : handle(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(handle != nullptr);
  }
  template <class... Arguments>
  int operator()(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle, name));
    REQUIRE(function != nullptr);
    return function(arguments...);
  }
};

/// Two CUPTIs, of which the first one to subscribe is told of calls.
void two_cuptis(const char* path_of_12) {
  const CuptiOf of_12(path_of_12);
  const CuptiOf of_13("libcupti.so.13");
  unsigned version_12 = 0;
  unsigned version_13 = 0;
  REQUIRE(of_12("cuptiGetVersion", &version_12) == 0);
  REQUIRE(of_13("cuptiGetVersion", &version_13) == 0);
  void* subscriber = nullptr;
  void* second = nullptr;
  static int calls = 0;
  const auto count = +[](void*, int, unsigned, const void*) { ++calls; };
  const auto subscribe = [&](const CuptiOf& cupti, void** handle) {
    return cupti("cuptiSubscribe", handle, count, static_cast<void*>(nullptr));
  };
  REQUIRE(subscribe(of_12, &subscriber) == 0);
  REQUIRE(subscribe(of_13, &second) == 39);
  REQUIRE(of_12("cuptiEnableDomain", 1U, subscriber, 2) == 0);
  OK(cudaDeviceSynchronize());
  REQUIRE(calls == 2);
  REQUIRE(of_12("cuptiUnsubscribe", subscriber) == 0);
  REQUIRE(subscribe(of_13, &second) == 0);
  REQUIRE(of_13("cuptiEnableDomain", 1U, second, 2) == 0);
  OK(cudaDeviceSynchronize());
  REQUIRE(calls == 4);
  std::printf("%u %u", version_12, version_13);
}

}  // namespace

int main(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "chain")
    chain();
  else if (what == "two_streams")
    two_streams();
  else if (what == "null_stream")
    null_stream();
  else if (what == "diamond")
    diamond();
  else if (what == "copies")
    copies();
  else if (what == "async_memory")
    async_memory();
  else if (what == "host_functions")
    host_functions();
  else if (what == "errors")
    errors();
  else if (what == "many_threads")
    many_threads();
  else if (what == "forks")
    forks();
  else if (what == "killed")
    killed();
  else if (what == "devices")
    devices();
  else if (what == "graph_updates")
    graph_updates();
  else if (what == "graph_of_any_nodes")
    graph_of_any_nodes();
  else if (what == "clusters")
    clusters();
  else if (what == "peers")
    peers();
  else if (what == "batch_of_copies")
    batch_of_copies();
  else if (what == "libraries")
    libraries();
  else if (what == "exit_amid_work")
    exit_amid_work();
  else if (what == "first_launches")
    first_launches();
  else if (what == "exits_of_many")
    exits_of_many();
  else if (what == "managed_memory")
    managed_memory();
  else if (what == "memory_of_all_kinds")
    memory_of_all_kinds();
  else if (what == "graph_launches_of_all_kinds")
    graph_launches_of_all_kinds();
  else if (what == "conditional_graph")
    conditional_graph();
  else if (what == "graphs_in_turn")
    graphs_in_turn();
  else if (what == "context_destroyed")
    context_destroyed();
  else if (what == "cupti_symbols")
    cupti_symbols();
  else if (what == "two_cuptis")
    two_cuptis(arguments[2]);
  else if (what == "exit7") {
    chain();
    _exit(7);
  } else
    return 3;
  return 0;
}
