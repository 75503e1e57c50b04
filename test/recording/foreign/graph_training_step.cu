// A training-like loop whose step is a captured CUDA graph, replayed, changed and rebuilt on the
// way; a second graph is built node by node. Scratch memory comes from stream-ordered pools, and
// NVTX ranges name the phases. Losses are printed, nothing branches on them.

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(...) check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

static void check(cudaError_t error, const char* call, const char* file, int line) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "%s failed at %s:%d: %s\n", call, file, line, cudaGetErrorString(error));
    std::exit(1);
  }
}

constexpr int kBatch = 64;
constexpr int kWidth = 256;
constexpr int kBatchElements = kBatch * kWidth;
constexpr int kWeights = kWidth * kWidth;
constexpr int kThreads = 256;

enum class Activation { kNone, kRelu };

template <Activation A>
__global__ void linear_forward(const float* input, const float* weights, float* output) {
  const int row = blockIdx.x;
  const int column = threadIdx.x;
  float sum = 0;
  for (int k = 0; k < kWidth; ++k) {
    sum += input[row * kWidth + k] * weights[k * kWidth + column];
  }
  output[row * kWidth + column] = A == Activation::kRelu ? fmaxf(sum, 0.0F) : sum;
}

__global__ void squared_loss(const float* output, float* loss) {
  const float value = output[blockIdx.x * kWidth + threadIdx.x] - 1.0F;
  atomicAdd(loss, value * value / kBatchElements);
}

__global__ void weight_gradient(const float* input, const float* output, float* gradient) {
  float sum = 0;
  for (int row = 0; row < kBatch; ++row) {
    sum += input[row * kWidth + blockIdx.x] * (output[row * kWidth + threadIdx.x] - 1.0F);
  }
  gradient[blockIdx.x * kWidth + threadIdx.x] = 2.0F * sum / kBatchElements;
}

__global__ void sgd_step(float* weights, const float* gradient, float rate, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    weights[i] -= rate * gradient[i];
  }
}

__global__ void add_to(float* target, float amount) {
  target[threadIdx.x] += amount;
}

// One NVTX domain for all of the loop, its strings registered once.
struct Markers {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("training");
  nvtxStringHandle_t step = nvtxDomainRegisterStringA(domain, "step");
  nvtxStringHandle_t recapture = nvtxDomainRegisterStringA(domain, "recapture");

  void push(nvtxStringHandle_t name, int payload) const {
    nvtxEventAttributes_t attributes = {};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.category = 1;
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0xff76b900U;
    attributes.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    attributes.payload.iValue = payload;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = name;
    nvtxDomainRangePushEx(domain, &attributes);
  }
  void pop() const { nvtxDomainRangePop(domain); }
};

struct Trainer {
  cudaStream_t stream = nullptr;
  cudaStream_t side = nullptr;
  cudaEvent_t fork = nullptr;
  cudaEvent_t join = nullptr;
  cudaEvent_t step_done = nullptr;
  float* host_batch[2] = {};
  float* host_loss = nullptr;
  float* input = nullptr;
  float* hidden = nullptr;
  float* output = nullptr;
  float* weights = nullptr;
  float* gradient = nullptr;
  float* loss = nullptr;
  std::atomic<int> steps_seen{0};
};

static void CUDART_CB count_step(void* trainer) {
  nvtxMarkA("step is through");
  ++static_cast<Trainer*>(trainer)->steps_seen;
}

static void set_up(Trainer& t) {
  CHECK(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&t.side, cudaStreamNonBlocking));
  nvtxNameCudaStreamA(t.stream, "training");
  nvtxNameCudaStreamA(t.side, "gradients");
  for (cudaEvent_t* event : {&t.fork, &t.join, &t.step_done}) {
    CHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  for (float*& batch : t.host_batch) {
    CHECK(cudaMallocHost(&batch, kBatchElements * sizeof(float)));
  }
  CHECK(cudaMallocHost(&t.host_loss, sizeof(float)));
  for (float** buffer : {&t.input, &t.hidden, &t.output}) {
    CHECK(cudaMalloc(buffer, kBatchElements * sizeof(float)));
  }
  CHECK(cudaMalloc(&t.weights, kWeights * sizeof(float)));
  CHECK(cudaMalloc(&t.gradient, kWeights * sizeof(float)));
  CHECK(cudaMalloc(&t.loss, sizeof(float)));
  const std::vector<float> initial(kWeights, 0.01F);
  CHECK(cudaMemcpyAsync(t.weights, initial.data(), kWeights * sizeof(float), cudaMemcpyHostToDevice,
                        t.stream));
  CHECK(cudaStreamSynchronize(t.stream));
}

static void tear_down(Trainer& t) {
  for (float* buffer : {t.input, t.hidden, t.output, t.weights, t.gradient, t.loss}) {
    CHECK(cudaFree(buffer));
  }
  for (float* buffer : {t.host_batch[0], t.host_batch[1], t.host_loss}) {
    CHECK(cudaFreeHost(buffer));
  }
  for (cudaEvent_t event : {t.fork, t.join, t.step_done}) {
    CHECK(cudaEventDestroy(event));
  }
  CHECK(cudaStreamDestroy(t.stream));
  CHECK(cudaStreamDestroy(t.side));
}

// The loss and the gradient need the output only, so they fork and join again before the update.
static cudaGraph_t capture_step(Trainer& t, int batch, float rate, cudaGraphNode_t* optimizer) {
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(t.loss, 0, sizeof(float), t.stream));
  CHECK(cudaMemcpyAsync(t.input, t.host_batch[batch], kBatchElements * sizeof(float),
                        cudaMemcpyHostToDevice, t.stream));
  linear_forward<Activation::kRelu><<<kBatch, kWidth, 0, t.stream>>>(t.input, t.weights, t.hidden);
  linear_forward<Activation::kNone><<<kBatch, kWidth, 0, t.stream>>>(t.hidden, t.weights, t.output);
  CHECK(cudaEventRecord(t.fork, t.stream));
  CHECK(cudaStreamWaitEvent(t.side, t.fork, 0));
  weight_gradient<<<kWidth, kWidth, 0, t.side>>>(t.hidden, t.output, t.gradient);
  CHECK(cudaEventRecord(t.join, t.side));
  squared_loss<<<kBatch, kWidth, 0, t.stream>>>(t.output, t.loss);
  CHECK(cudaMemcpyAsync(t.host_loss, t.loss, sizeof(float), cudaMemcpyDeviceToHost, t.stream));
  CHECK(cudaStreamWaitEvent(t.stream, t.join, 0));
  sgd_step<<<kWeights / kThreads, kThreads, 0, t.stream>>>(t.weights, t.gradient, rate, kWeights);
  CHECK(cudaGetLastError());

  // The capture now depends on one node only: the kernel just launched.
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t* last_nodes = nullptr;
  size_t last_count = 0;
  CHECK(cudaStreamGetCaptureInfo(t.stream, &status, nullptr, nullptr, &last_nodes, nullptr,
                                 &last_count));
  if (status != cudaStreamCaptureStatusActive || last_count != 1) {
    std::fprintf(stderr, "capture has status %d and %zu last nodes\n", status, last_count);
    std::exit(1);
  }
  *optimizer = last_nodes[0];
  CHECK(cudaLaunchHostFunc(t.stream, count_step, &t));
  CHECK(cudaStreamEndCapture(t.stream, &graph));
  return graph;
}

static void describe(const char* name, cudaGraph_t graph) {
  size_t nodes = 0;
  size_t edges = 0;
  size_t roots = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  std::vector<cudaGraphNode_t> all(nodes);
  CHECK(cudaGraphGetNodes(graph, all.data(), &nodes));
  long kernels = 0;
  for (cudaGraphNode_t node : all) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    CHECK(cudaGraphNodeGetType(node, &type));
    kernels += type == cudaGraphNodeTypeKernel ? 1 : 0;
  }
  std::printf("%s: %zu nodes (%ld kernels), %zu edges, %zu root(s)\n", name, nodes, kernels, edges,
              roots);
}

static void set_rate(const Trainer& t, cudaGraphExec_t exec, cudaGraphNode_t node, float rate) {
  cudaKernelNodeParams params{};
  CHECK(cudaGraphKernelNodeGetParams(node, &params));
  float* weights = t.weights;
  float* gradient = t.gradient;
  int count = kWeights;
  void* arguments[] = {&weights, &gradient, &rate, &count};
  params.kernelParams = arguments;
  CHECK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
}

static void train(Trainer& t, const Markers& markers, int iterations) {
  cudaGraphNode_t optimizer = nullptr;
  cudaGraph_t graph = capture_step(t, 0, 0.1F, &optimizer);
  describe("captured step", graph);
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphUpload(exec, t.stream));
  int updated = 0;
  const nvtxRangeId_t whole = nvtxRangeStartA("all steps");
  for (int i = 0; i < iterations; ++i) {
    markers.push(markers.step, i);
    CHECK(cudaEventSynchronize(t.step_done));  // the last step still reads the batch
    std::fill_n(t.host_batch[i / 16 % 2], kBatchElements, 0.001F * static_cast<float>(i % 7));
    if (i % 8 == 7) {
      set_rate(t, exec, optimizer, 0.1F / static_cast<float>(i));
    }
    if (i % 16 == 0 && i > 0) {
      markers.push(markers.recapture, i / 16 % 2);
      cudaGraphNode_t unused = nullptr;
      cudaGraph_t next = capture_step(t, i / 16 % 2, 0.05F, &unused);
      cudaGraphExecUpdateResultInfo info{};
      CHECK(cudaGraphExecUpdate(exec, next, &info));
      updated += info.result == cudaGraphExecUpdateSuccess ? 1 : 0;
      CHECK(cudaGraphDestroy(next));
      markers.pop();
    }
    nvtxRangePushA("replay");
    CHECK(cudaGraphLaunch(exec, t.stream));
    CHECK(cudaEventRecord(t.step_done, t.stream));
    nvtxRangePop();
    markers.pop();
  }
  CHECK(cudaStreamSynchronize(t.stream));
  nvtxRangeEnd(whole);
  std::printf("%d steps (%d seen), %d whole-graph updates, loss %g\n", iterations,
              t.steps_seen.load(), updated, *t.host_loss);

  // A graph of another shape must be refused; the executable graph is then built anew.
  cudaGraph_t other = nullptr;
  cudaGraphNode_t only = nullptr;
  CHECK(cudaGraphCreate(&other, 0));
  CHECK(cudaGraphAddEmptyNode(&only, other, nullptr, 0));
  cudaGraphExecUpdateResultInfo info{};
  const cudaError_t refused = cudaGraphExecUpdate(exec, other, &info);
  cudaGetLastError();
  std::printf("update to another shape: %s, result %d\n", cudaGetErrorName(refused), info.result);
  CHECK(cudaGraphDestroy(other));
  CHECK(cudaGraphExecDestroy(exec));
  cudaGraphInstantiateParams params{};
  params.flags = cudaGraphInstantiateFlagUpload;
  params.uploadStream = t.stream;
  CHECK(cudaGraphInstantiateWithParams(&exec, graph, &params));
  CHECK(cudaGraphLaunch(exec, t.stream));
  CHECK(cudaGraphLaunch(exec, t.stream));
  CHECK(cudaStreamSynchronize(t.stream));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

static void CUDART_CB count_call(void* counter) {
  ++*static_cast<std::atomic<int>*>(counter);
}

static cudaGraphNode_t add_kernel(cudaGraph_t graph, float* target, float amount) {
  void* arguments[] = {&target, &amount};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(add_to);
  params.gridDim = dim3(1);
  params.blockDim = dim3(kThreads);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CHECK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &params));
  return node;
}

// {memset, upload} -> begin event -> kernel -> child (two kernels) -> end event -> {download, host}
static void build_by_hand(Trainer& t, const Markers& markers) {
  markers.push(nvtxDomainRegisterStringA(markers.domain, "built by hand"), 0);
  constexpr size_t kBytes = kThreads * sizeof(float);
  std::atomic<int> calls{0};
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  cudaGraph_t child = nullptr;
  CHECK(cudaGraphCreate(&child, 0));
  const cudaGraphNode_t first = add_kernel(child, t.hidden, 2.0F);
  const cudaGraphNode_t second = add_kernel(child, t.hidden, 3.0F);
  CHECK(cudaGraphAddDependencies(child, &first, &second, nullptr, 1));

  cudaGraph_t graph = nullptr;
  CHECK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams clear{};
  clear.dst = t.output;
  clear.elementSize = sizeof(float);
  clear.width = kBatchElements;
  clear.height = 1;
  cudaGraphNode_t roots[2] = {};
  CHECK(cudaGraphAddMemsetNode(&roots[0], graph, nullptr, 0, &clear));
  CHECK(cudaGraphAddMemcpyNode1D(&roots[1], graph, nullptr, 0, t.hidden, t.host_batch[0], kBytes,
                                 cudaMemcpyHostToDevice));
  cudaGraphNode_t begin_node = nullptr;
  CHECK(cudaGraphAddEventRecordNode(&begin_node, graph, roots, 2, begin));
  const cudaGraphNode_t kernel = add_kernel(graph, t.hidden, 1.0F);
  CHECK(cudaGraphAddDependencies(graph, &begin_node, &kernel, nullptr, 1));
  cudaGraphNode_t child_node = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&child_node, graph, &kernel, 1, child));
  cudaGraphNodeParams record{};
  record.type = cudaGraphNodeTypeEventRecord;
  record.eventRecord.event = end;
  cudaGraphNode_t end_node = nullptr;
  CHECK(cudaGraphAddNode(&end_node, graph, &child_node, nullptr, 1, &record));
  cudaGraphNode_t leaves[2] = {};
  CHECK(cudaGraphAddMemcpyNode1D(&leaves[0], graph, &end_node, 1, t.host_batch[1], t.hidden, kBytes,
                                 cudaMemcpyDeviceToHost));
  const cudaHostNodeParams host = {count_call, &calls};
  CHECK(cudaGraphAddHostNode(&leaves[1], graph, &end_node, 1, &host));
  cudaGraphNode_t join = nullptr;
  CHECK(cudaGraphAddEmptyNode(&join, graph, leaves, 2));
  describe("built by hand", graph);

  // The clone differs in one kernel's shape.
  cudaGraph_t clone = nullptr;
  cudaGraphNode_t cloned_kernel = nullptr;
  CHECK(cudaGraphClone(&clone, graph));
  CHECK(cudaGraphNodeFindInClone(&cloned_kernel, kernel, clone));
  cudaKernelNodeParams params{};
  CHECK(cudaGraphKernelNodeGetParams(cloned_kernel, &params));
  params.blockDim = dim3(kThreads / 2);
  CHECK(cudaGraphKernelNodeSetParams(cloned_kernel, &params));

  cudaGraphExec_t execs[2] = {};
  CHECK(cudaGraphInstantiate(&execs[0], graph, cudaGraphInstantiateFlagUseNodePriority));
  CHECK(cudaGraphInstantiateWithFlags(&execs[1], clone, 0));
  CHECK(cudaGraphNodeSetEnabled(execs[0], roots[0], 0));  // this one skips its memset
  for (int round = 0; round < 6; ++round) {
    CHECK(cudaGraphLaunch(execs[round % 2], t.stream));
  }
  CHECK(cudaStreamSynchronize(t.stream));
  float elapsed_ms = 0;
  CHECK(cudaEventElapsedTime(&elapsed_ms, begin, end));
  std::printf("built by hand: %d host calls, %.3f ms between its events, first value %g\n",
              calls.load(), elapsed_ms, t.host_batch[1][0]);
  CHECK(cudaGraphExecDestroy(execs[0]));
  CHECK(cudaGraphExecDestroy(execs[1]));
  CHECK(cudaGraphDestroy(clone));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaGraphDestroy(child));
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  markers.pop();
}

static void use_pools(Trainer& t) {
  int supported = 0;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
  if (supported == 0) {
    std::printf("memory pools: not offered by this device\n");
    return;
  }
  nvtxRangePushA("pools");
  cudaMemPool_t default_pool = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&default_pool, 0));
  cuuint64_t threshold = 64ULL << 20;  // keep this much instead of giving it back at every sync
  CHECK(cudaMemPoolSetAttribute(default_pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  cudaMemPoolProps props{};
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own_pool = nullptr;
  CHECK(cudaMemPoolCreate(&own_pool, &props));
  for (size_t round = 1; round <= 8; ++round) {
    float* scratch = nullptr;
    float* own = nullptr;
    CHECK(cudaMallocAsync(&scratch, round << 20, t.stream));
    CHECK(cudaMallocFromPoolAsync(&own, 1 << 20, own_pool, t.stream));
    CHECK(cudaMemsetAsync(scratch, 0, round << 20, t.stream));
    CHECK(cudaMemsetAsync(own, 0, 1 << 20, t.stream));
    add_to<<<1, kThreads, 0, t.stream>>>(own, 1.0F);
    CHECK(cudaGetLastError());
    CHECK(cudaFreeAsync(scratch, t.stream));
    CHECK(cudaEventRecord(t.join, t.stream));
    CHECK(cudaStreamWaitEvent(t.side, t.join, 0));
    CHECK(cudaFreeAsync(own, t.side));  // freed by another stream than the one that asked
  }
  CHECK(cudaStreamSynchronize(t.side));
  cuuint64_t reserved = 0;
  cuuint64_t used_high = 0;
  CHECK(cudaMemPoolGetAttribute(default_pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  CHECK(cudaMemPoolGetAttribute(default_pool, cudaMemPoolAttrUsedMemHigh, &used_high));
  CHECK(cudaMemPoolTrimTo(default_pool, 0));
  std::printf("memory pools: %llu KiB reserved, %llu KiB used at most\n",
              static_cast<unsigned long long>(reserved >> 10),
              static_cast<unsigned long long>(used_high >> 10));

  // Captured, an allocation becomes a node, and its memory belongs to the graph.
  float* in_graph = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaStreamBeginCapture(t.stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaMallocAsync(&in_graph, 4 << 20, t.stream));
  add_to<<<1, kThreads, 0, t.stream>>>(in_graph, 1.0F);
  CHECK(cudaFreeAsync(in_graph, t.stream));
  CHECK(cudaStreamEndCapture(t.stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  CHECK(cudaGraphLaunch(exec, t.stream));
  CHECK(cudaStreamSynchronize(t.stream));
  cuuint64_t graph_bytes = 0;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &graph_bytes));
  std::printf("graph memory: %llu KiB\n", static_cast<unsigned long long>(graph_bytes >> 10));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaDeviceGraphMemTrim(0));
  CHECK(cudaMemPoolDestroy(own_pool));
  nvtxRangePop();
}

static int parse_arguments(int argc, char** argv, int iterations) {
  const char* usage = "usage: graph_training_step [--iterations N]   N steps, 1..100000\n";
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
  const int iterations = parse_arguments(argc, argv, 100);
  CHECK(cudaSetDevice(0));
  const Markers markers;
  nvtxDomainNameCategoryA(markers.domain, 1, "loop");
  Trainer trainer;
  set_up(trainer);
  train(trainer, markers, iterations);
  build_by_hand(trainer, markers);
  use_pools(trainer);
  tear_down(trainer);
  nvtxDomainDestroy(markers.domain);
  std::printf("done\n");
  return 0;
}
