// Graphs that are changed between instantiations, launched in every spelling, cloned, updated,
// destroyed and made anew; or, with an argument, one with a conditional node that runs its body.
#include <cuda_runtime.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

#define REQUIRE(call)                                                           \
  do {                                                                          \
    const int result = static_cast<int>(call);                                  \
    if (result != 0) {                                                          \
      std::fprintf(stderr, "line %d: %s: error %d\n", __LINE__, #call, result); \
      std::exit(1);                                                             \
    }                                                                           \
  } while (false)

__global__ void first(int) {}
__global__ void second(int) {}
__global__ void third(int) {}

int argument = 7;
void* arguments[] = {&argument};

cudaGraphNode_t add(cudaGraph_t graph, void* function) {
  cudaKernelNodeParams parameters{};
  parameters.func = function;
  parameters.gridDim = dim3(4);
  parameters.blockDim = dim3(32);
  parameters.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  return node;
}

void connect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  REQUIRE(cudaGraphAddDependencies(graph, &from, &to, nullptr, 1));
}

void disconnect(cudaGraph_t graph, cudaGraphNode_t from, cudaGraphNode_t to) {
  REQUIRE(cudaGraphRemoveDependencies(graph, &from, &to, nullptr, 1));
}

cudaGraphExec_t instantiate(cudaGraph_t graph) {
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiate(&exec, graph, 0));
  return exec;
}

void launch_in_every_spelling(cudaGraphExec_t exec, cudaStream_t stream) {
  using Launch = int (*)(void*, void*);
  for (const char* name :
       {"cudaGraphLaunch", "cudaGraphLaunch_ptsz", "cuGraphLaunch", "cuGraphLaunch_ptsz"}) {
    void* const found = dlsym(RTLD_DEFAULT, name);
    REQUIRE(found == nullptr ? 1 : 0);
    Launch launch = nullptr;
    std::memcpy(&launch, &found, sizeof launch);
    REQUIRE(launch(exec, stream));
  }
}

void variants() {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream));
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t a = add(graph, reinterpret_cast<void*>(first));
  const cudaGraphNode_t b = add(graph, reinterpret_cast<void*>(second));
  const cudaGraphNode_t c = add(graph, reinterpret_cast<void*>(third));
  connect(graph, a, b);
  connect(graph, a, c);
  cudaGraphExec_t exec = instantiate(graph);
  REQUIRE(cudaGraphLaunch(exec, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  disconnect(graph, a, c);
  connect(graph, b, c);
  REQUIRE(cudaGraphExecDestroy(exec));
  exec = instantiate(graph);  // the handle may be the same
  REQUIRE(cudaGraphLaunch(exec, stream));
  REQUIRE(cudaGraphLaunch(exec, stream));
  REQUIRE(cudaStreamSynchronize(stream));
  REQUIRE(cudaGraphExecDestroy(exec));
  connect(graph, a, c);  // back again
  exec = instantiate(graph);
  launch_in_every_spelling(exec, stream);
  cudaGraphExecUpdateResultInfo update{};
  REQUIRE(cudaGraphExecUpdate(exec, graph, &update));
  REQUIRE(cudaGraphLaunch(exec, stream));
  cudaGraph_t clone = nullptr;
  REQUIRE(cudaGraphClone(&clone, graph));
  cudaGraphNode_t b_of_clone = nullptr;
  cudaGraphNode_t c_of_clone = nullptr;
  REQUIRE(cudaGraphNodeFindInClone(&b_of_clone, b, clone));
  REQUIRE(cudaGraphNodeFindInClone(&c_of_clone, c, clone));
  disconnect(clone, b_of_clone, c_of_clone);
  cudaGraphExec_t exec_of_clone = instantiate(clone);
  REQUIRE(cudaGraphLaunch(exec_of_clone, stream));
  REQUIRE(cudaGraphDestroy(graph));  // what was instantiated does not need it
  REQUIRE(cudaGraphLaunch(exec, stream));
  REQUIRE(cudaDeviceSynchronize());
  REQUIRE(cudaGraphExecDestroy(exec));
  REQUIRE(cudaGraphExecDestroy(exec_of_clone));
  REQUIRE(cudaGraphDestroy(clone));
}

void conditional() {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream));
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t before = add(graph, reinterpret_cast<void*>(first));
  cudaGraphNodeParams parameters{};
  parameters.type = cudaGraphNodeTypeConditional;
  REQUIRE(cudaGraphConditionalHandleCreate(&parameters.conditional.handle, graph, 1,
                                           cudaGraphCondAssignDefault));
  parameters.conditional.type = cudaGraphCondTypeIf;
  parameters.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphAddNode(&node, graph, &before, nullptr, 1, &parameters));
  add(parameters.conditional.phGraph_out[0], reinterpret_cast<void*>(second));
  const cudaGraphExec_t exec = instantiate(graph);
  for (int i = 0; i < 3; ++i) REQUIRE(cudaGraphLaunch(exec, stream));
  REQUIRE(cudaDeviceSynchronize());
}

}  // namespace

int main(int count, char**) {
  count > 1 ? conditional() : variants();
  return 0;
}
